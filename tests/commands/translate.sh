#!/bin/sh
# translate.sh -- ./translate as a decoder: scoring, searching, sampling, and as a filter.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh

# near NAME A B LIMIT: two numbers are that close.
near() { awk -v a="$2" -v b="$3" -v limit="$4" 'BEGIN { exit !(a != "" && b != "" && (a - b) ^ 2 < limit ^ 2) }' &&
    pass "$1" || fail "$1" "$2 is not $3"; }

language 400 60
tiny="$tiny --valid-every 60 --warmup 20 --quiet"
"$latest" "$BIN/train" $corpus $tiny --max-updates 120 --output run 2>err || fail "a model to translate with" "$(cat err)"
translate() { "$BIN/translate" --model run "$@"; }  # a second --model joins the first

# ---- scoring ----
paste valid.s valid.t >valid.tsv
translate --score <valid.tsv >scores 2>err
check "--score gives a line a pair" sh -c 'test "$(grep -c "^-[0-9.]*$" scores)" = 60'
check "and the perplexity at the end" grep -q "^perplexity [0-9.]* (loss [0-9.]* nats a token) of 60 pairs" err
translate --score --target valid.t <valid.s 2>err | cmp -s - scores
check "--target is the second column" test $? -eq 0
translate --score --json --threads 2 <valid.tsv >json 2>err
near "the loss of the last validation" "$(sed -n 's/.*"loss":\([0-9.]*\).*/\1/p' json)" \
    "$(grep '"valid"' run/metrics.jsonl | tail -n 1 | sed 's/.*"loss":\([0-9.]*\).*/\1/')" 1e-5
near "a pair is the sum of its tokens" "$(head -n 1 scores)" "$(head -n 1 json |
    sed 's/.*"log_probabilities":\[\(.*\)\]}/\1/' | awk -F, '{ for (i = 1; i <= NF; i++) s += $i; print s }')" 1e-4
check "an object a line, its tokens as they are cut" sh -c \
    'test "$(wc -l <json)" = 61 && head -n 1 json | grep -q "^{\"line\":1,.*\"tokens\":\[.*\"</s>\"\],"'
long="one two three four five six seven eight nine ten one two three four five six seven eight nine ten"
printf 'one\tONE\n%s\tONE\none\tONE\n' "$long" >long.tsv
translate --score <long.tsv >out 2>err
check "a pair that is too long is not counted" sh -c \
    'test "$(sed -n 2p out)" = nan && grep -q "line 2 has 20 tokens" err && grep -q "of 2 pairs" err'
wrong "a pair without a TAB" 1 "line 1 has no TAB" translate --score "one two"
wrong "fewer targets than sources" 1 "only 60 lines" sh -c \
    "cat valid.s valid.s | '$BIN/translate' --model run --score --target valid.t >/dev/null"
wrong "more targets than sources" 1 "more lines than the 0 sources" translate --score --target valid.t
wrong "--target without --score" 2 "goes with --score" translate --target valid.t one
wrong "--score with --reference" 2 "does not go with" translate --score --reference valid.t one

# ---- searching ----
same() { name=$1; shift; translate "$@" <valid.s >out 2>err; check "$name" cmp out expected; }
translate --beam 1 <valid.s >greedy
translate <valid.s >beam
for way in "--beam 1" "--beam 4" "--beam 3 --length-penalty 0.6" "--sample" \
    "--sample --top-k 5 --top-p 0.9 --temperature 0.8 --n-best 3" "--beam 4 --no-repeat-ngram 1"; do
    # shellcheck disable=SC2086
    translate $way --threads 1 <valid.s >expected
    # shellcheck disable=SC2086
    same "$way: the same with 3 threads and small batches" $way --threads 3 --batch-rows 7
done
head -n 12 valid.s | while IFS= read -r line; do echo "$line" | translate --beam 4; done >single
check "a line alone is translated as among others" sh -c 'head -n 12 beam | cmp - single'
translate --sample --seed 1 <valid.s >one; translate --sample --seed 1 <valid.s >again
translate --sample --seed 2 <valid.s >two
check "the same seed, the same samples" cmp one again
check "another seed, others" sh -c "! cmp -s one two"
translate --sample --top-k 1 <valid.s >out
check "sampling from the most probable token is greedy search" cmp out greedy
translate --sample --n-best 5 "one two three four" >out
check "--sample --n-best draws that often" sh -c 'test "$(grep -c "^1 ||| " out)" = 5'
translate --prefix "THREE" <valid.s >out
check "--prefix is how all begin" sh -c 'test "$(grep -c "^THREE" out)" = 60'
translate --no-repeat-ngram 1 --min-length 6 <valid.s >out
check "--no-repeat-ngram 1 --min-length 6" awk \
    '{ delete seen; for (i = 1; i <= NF; i++) if (seen[$i]++) exit 1; if (NF < 6) exit 1 }' out
translate --model run --model run <valid.s >out 2>err
check "a model twice is as good as once" cmp out beam
"$latest" "$BIN/train" $corpus $tiny --max-updates 60 --output wide --d-model 24 --heads 3 --encoder-layers 2 2>err
translate --model wide <valid.s >out 2>err
check "an ensemble of two shapes" test "$(wc -l <out)" = 60
perplexity() { translate --score --json --quiet "$@" <valid.tsv | sed -n 's/.*"loss":\([0-9.]*\).*/\1/p'; }
check "its loss is no more than the mean of theirs" awk -v a="$(perplexity)" \
    -v b="$("$BIN/translate" --model wide --score --json --quiet <valid.tsv | sed -n 's/.*"loss":\([0-9.]*\).*/\1/p')" \
    -v both="$(perplexity --model wide)" 'BEGIN { exit !(both > 0 && both <= (a + b) / 2) }'
"$latest" "$BIN/train" $corpus $tiny --max-updates 1 --output other --tokenizer char --max-length 40 2>err
wrong "models with two vocabularies" 1 "different tokenizers" translate --model run --model other one
wrong "a prefix as long as the model allows" 1 "prefix has 20 tokens" translate --prefix "$long" "one two"

# ---- unknown words ----
# A language with names, most of which come once: <unk> in training, on both sides.
awk 'BEGIN { srand(3); split("one two three four five", word, " ")
    for (i = 0; i < 2000; i++) {
        n = 2 + int(rand() * 3); at = int(rand() * (n + 1)); source = target = ""; r = int(rand() * 500)
        for (k = 0; k <= n; k++) {
            w = k == at ? sprintf("name%c%c%c", 97 + r / 100, 97 + r / 10 % 10, 97 + r % 10) : word[1 + int(rand() * 5)]
            source = source (k ? " " : "") w; target = target (k ? " " : "") (k == at ? w : toupper(w))
        }
        print source >"names.s"; print target >"names.t"
    } }'
"$latest" "$BIN/train" --preset tiny --force --train-source names.s --train-target names.t --valid-source names.s --valid-target names.t \
    --tokenizer word --vocab-size 22 --d-model 32 --heads 2 --ffn 64 --encoder-layers 1 --decoder-layers 1 \
    --max-length 20 --batch-tokens 1000 --max-updates 200 --warmup 50 --learning-rate 0.005 --valid-every 1000 \
    --quiet --output names 2>err || fail "a model that knows no names" "$(cat err)"
names() { "$BIN/translate" --model names "$@"; }
check "an unknown word is copied" test "$(names "one Xavier two")" = "ONE Xavier TWO"
names --n-best 4 "Ørsted two one" "one two Zoë," >out
check "into whichever hypothesis, and no more than once" sh -c \
    'grep -q "^1 ||| Ørsted TWO ONE" out && ! grep -q "Ørsted.*Ørsted" out && ! grep -q "⁇" out'
check "that of --prefix is as typed" test "$(names --prefix "Jörg" "one Xavier two" | cut -d ' ' -f 1)" = Jörg
check "and is not copied again" test "$(names --prefix "ONE Zoë" "one Zoë Xavier" | grep -o Zoë)" = Zoë
head -n 100 names.s >some.s
hits() { head -n 100 names.t | paste - out | awk -F '\t' '
    { match($1, /name[a-z]+/); hits += index(" " $2 " ", " " substr($1, RSTART, RLENGTH) " ") > 0 } END { print hits }'; }
names --no-copy-unknown <some.s >out
check "--no-copy-unknown: none is" test "$(hits)" -lt 20
names <some.s >out
check "nearly every name arrives" test "$(hits)" -gt 85
check "and stay what they are in JSON" sh -c \
    "'$BIN/translate' --model names --json 'one \"x\\y\" two' | grep -q '\"text\":\".*\"x'"
"$latest" "$BIN/train" $corpus $tiny --max-updates 1 --output letters --tokenizer char --max-length 40 2>err
check "no unknown character is shown as such" sh -c \
    "'$BIN/translate' --model letters --sample --n-best 20 'one ✻ two' >out && ! grep -q '⁇' out"

# What a line has that is not in the vocabulary is said, and is in JSON.
translate 'one "Xavier" two (Ørsted)! One-two five' >out 2>err
check "unknown words are named as typed" test "$(cat err)" = \
    "translate: not in this model's vocabulary: Xavier, Ørsted, One-two"
translate --show "(Xavier) one" >out 2>err
check "with the bracket behind them" grep -q "(Xavier)" out
translate "one €$(printf '%050d' 0 | sed 's/0/é/g') two" >out 2>err
check "long ones up to a whole character" grep -q "éé…$" err
translate "one two" >out 2>err
check "and nothing if there are none" test ! -s err
for i in 1 2 3 4 5 6; do echo "one two"; echo "Zoë$i"; done | translate >out 2>err
check "with the number of the line" test "$(head -n 2 err | tail -n 1)" = \
    "translate: line 4: not in this model's vocabulary: Zoë2"
seq -f 'Zoë%.0f' 100 112 | translate >out 2>err
check "ten times at most" test "$(grep -c "not in this model's vocabulary: Zoë1" err)" = 10
check "and then how many more" grep -q "^translate: 3 more lines have words that are not in" err
translate --quiet "one Xavier" one >out 2>err
check "--quiet: nothing" test ! -s err
translate --json "one Xavier \"Zoë\"" one >out 2>err
check "--json has them" sh -c 'test "$(sed "s/,\"text.*//" out | tr "\n" " ")" = \
    "{\"line\":1,\"unknown\":[\"Xavier\",\"Zoë\"] {\"line\":2,\"unknown\":[] "'
check "several texts are numbered" grep -q "^translate: text 1: not in" err
printf 'one Xavier\tZoë ONE\n' | translate --score --json >out 2>err
check "--score names those of the target" grep -q "^translate: line 1, target: not in .*: Zoë$" err
check "and so does its JSON" grep -q '"unknown":\["Xavier"\],"unknown_target":\["Zoë"\]' out
printf 'one Xavier\n' | translate --align --target valid.t >out 2>err
check "--align, too" grep -q "^translate: line 1: not in .*: Xavier$" err
translate --given "ONE Zoë" --json "one Xavier" >out 2>err
check "a given translation stays as it is" grep -q '"text":"ONE Zoë"' out
check "and its unknown words are named" grep -q "^translate: --given: not in .*: Zoë$" err
translate --explain --attention-kind encoder --word Xavier "one Xavier" >out 2>err
check "--explain follows a word as typed" grep -q 'one word, "Xavier"' out

# ---- the vocabulary ----
translate --list-vocabulary | sort >words
printf '%s\n' one two three four five six seven eight nine ten | tee own | tr a-z A-Z >>own
sort own >own.sorted
check "--list-vocabulary: the words" cmp words own.sorted
"$BIN/translate" --model letters --list-vocabulary >words
check "and pieces as SentencePiece shows them" grep -qx "▁" words
wrong "--list-vocabulary with a text" 2 "nothing to translate" translate --list-vocabulary one

# ---- a filter ----
translate --json <valid.s | sed 's/^{"line":[0-9]*,"unknown":\[\],"text":"\([^"]*\)","score":-[0-9.e-]*,"log_probability":-.*,"tokens":\[.*"<\/s>"\],"log_probabilities":\[-.*\],"confidence":\[0.[^][]*\],"cut":0,"limit":[a-z]*,"missing":\[\],"coverage":[0-9.]*,"doubtful":false}$/\1/' >out
check "--json has the same text" cmp out beam
translate --json --n-best 2 "one two" "" >out
check "--json has the n best" grep -q '^{"line":1,.*"n_best":\[{"text":.*},{"text":.*}\]}$' out
check "and an empty line" grep -q '^{"line":2,"unknown":\[\],"text":"","score":0,"log_probability":0,"tokens":\[\],"log_probabilities":\[\],"words":\[\],"confidence":\[\],"cut":0,"limit":false,"missing":\[\],"coverage":1,"doubtful":false,"n_best":' out
# A line is answered before the next one comes, even if the next has begun.
mkfifo in out.fifo
ASAN_OPTIONS=${ASAN_OPTIONS:-}:quarantine_size_mb=1 "$BIN/translate" --model run --threads 1 <in >out.fifo 2>err &  # (what a sanitizer keeps back would count)
pid=$!
exec 3>in 4<out.fifo
head -n 1 beam >expected
for round in 1 2; do
    if [ $round = 1 ]; then head -n 1 valid.s >&3
    else { tail -n +3 valid.s | head -n 1; printf 'one t'; } >&3; sed -n 3p beam >expected; fi
    timeout 20 sh -c 'IFS= read -r line; echo "$line"' <&4 >got
    check "fed line by line, it answers line by line ($round)" cmp got expected
done
# Memory does not grow with the file.
memory() { awk '$1 == "VmHWM:" { print $2 }' "/proc/$pid/status"; }
echo >&3; IFS= read -r line <&4
few() { for copy in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do cat valid.s; done; }
many() { for more in 1 2 3 4 5 6 7 8 9 10; do few; few; done; }
{ few; few; few; } >&3 & head -n 3600 <&4 >got; wait $!
before=$(memory)
many >&3 & head -n 24000 <&4 >got; wait $!
after=$(memory)
check "24,000 lines take the memory of 3,600 ($before kB, $after kB)" test "$after" -lt $((before + 4000))
exec 3>&- 4<&-
wait $pid
check "and the order is kept" sh -c 'for i in $(seq 400); do cat beam; done | cmp - got'
# On a terminal.
if script -qec true /dev/null </dev/null >script.out 2>&1; then
    for more in 1 2 3; do few; few; done >many.s
    script -qec "'$BIN/translate' --model run --beam 8 <many.s >many.out" /dev/null >out 2>&1 </dev/null
    check "a file gets a progress bar" grep -q '% \[#* *\] [0-9hms]* left  [0-9,]* lines  [0-9,]*/s' out
    script -qec "'$BIN/translate' --model run --beam 8 --min-score -0.0001 <many.s >many.out" /dev/null >out 2>&1 </dev/null
    check "it goes before a warning" sh -c "tr '\r' '\n' <out | grep 'check line' | grep -vq % && ! tr '\r' '\n' <out | grep -q '%.*check line'"
    check "--quiet gets none" sh -c \
        "script -qec \"'$BIN/translate' --model run --quiet <valid.s >many.out\" /dev/null </dev/null | wc -c | grep -q '^0'"
else
    echo "skipped the progress bar: script(1) is missing or gets no pseudo-terminal"
fi

# ---- scripts that read what it prints ----
check "why-sqrt reads the explanation" sh -c \
    "cd '$here' && scripts/why-sqrt 16 | awk 'NR == 2 && \$3 > 0 && \$5 > 1 / 6 && \$6 <= \$5 { ok = 1 } END { exit !ok }'"

# ---- the confidence of words ----
if command -v python3 >/dev/null; then
    "$BIN/translate" --quiet --model "$here/data/toy/model.safetensors" --json "jane visits africa in september" >out
    check "a word's confidence is the product of its tokens' probabilities" python3 -c '
import json, math
out = json.load(open("out", encoding="utf-8"))
words, p = out["text"].split(), [math.exp(x) for x in out["log_probabilities"]]
assert out["tokens"][2:4] == ["\u2581l\u0027", "\u2581afrique"] and words[2] == "l\u0027afrique"
assert out["words"] == words and len(out["confidence"]) == len(words) == 5 and len(p) == len(out["tokens"]) == 7
for found, expected in zip(out["confidence"], [p[0], p[1], p[2] * p[3], p[4], p[5]]):
    assert abs(found - expected) < 1e-9
assert abs(sum(out["log_probabilities"]) - out["log_probability"]) < 1e-9'
    "$BIN/translate" --quiet --model "$here/data/toy/model.safetensors" --json --align "車を jane" >out
    check "--align has the words that it counts, and their unit" grep -q '"source_words":\["車","を","jane"\],"text".*"target_words":\[.*\],"unit":"word","alignment"' out
    "$BIN/translate" --quiet --model "$here/data/toy/model.safetensors" --json --given "jane visite la chine" "jane visits africa in september" >out
    check "that of a given translation, too" grep -q '"confidence":\[0.9[0-9.]*,0.9[0-9.]*,0.00[0-9.]*,0.000[0-9.]*\],"cut":0,' out
    python3 -c '
field = lambda number, value: bytes([number << 3 | 2, len(value)]) + value
piece = lambda text, kind: field(1, field(1, text.encode()) + b"\x15\0\0\0\0" + bytes([24, kind]))
pieces = [("</s>", 3), ("<unk>", 2), ("\u2581" + "\u2581".join(["one"] * 12), 1), ("\u2581one", 1)]
ids = b"\x18\1\xc0\2\1\xc8\2" + b"\xff" * 9 + b"\1\xd0\2\0\xd8\2" + b"\xff" * 9 + b"\1"
normalizer = field(1, b"identity") + b"\x18\1\x20\1"
open("phrases", "wb").write(b"".join(piece(*p) for p in pieces) + field(2, ids) + field(3, normalizer))'
    "$latest" "$BIN/train" $corpus $tiny --tokenizer-model phrases --max-updates 1 --output phrases.run 2>err
    "$BIN/translate" --quiet --model phrases.run --json --given "$(printf 'one %.0s' $(seq 13))" one >out 2>err
    check "a token of many words gives each its probability" python3 -c '
import json, math
out = json.load(open("out"))
p = [math.exp(x) for x in out["log_probabilities"]]
assert len(p) == 3 and all(abs(c - q) < 1e-9 for c, q in zip(out["confidence"], [p[0]] + 12 * [p[1]], strict=True))'
    printf '%s\n' '{"text":"a b","score":-1,"confidence":[0.9,0.1]}' '{"text":"a a d","score":-2,"confidence":[0.85,0.25,0.04]}' >sure
    printf 'a c\nd a c\n' >reference
    BIN=$BIN "$here/scripts/calibration" sure reference >out 2>err
    check "calibration counts words that the reference has" grep -q "^5 words: ECE 0.312, Brier score 0.205, AUC 0.667$" out
    check "and scores the sentences with the best score" sh -c 'test "$(grep -c "^ *[0-9]* %  *[0-9.]*  *[0-9.]*$" out)" = 4'
fi
