#!/bin/sh
# align.sh -- ./translate --align, --json --show and --explain on a small trained model.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh

# The translation is the reversed sentence, so the gold alignment is known.
language 800 60
"$latest" "$BIN/train" --train-source train.s --train-target train.t --valid-source valid.s --valid-target valid.t \
    --tokenizer word --vocab-size 60 --d-model 32 --heads 2 --ffn 64 --encoder-layers 1 \
    --decoder-layers 2 --max-length 20 --batch-tokens 300 --valid-every 200 --warmup 40 \
    --learning-rate 0.01 --schedule inverse-sqrt --augment 0 --quiet --max-updates 400 --output run 2>err ||
    fail "a model to align with" "$(cat err)"
translate() { "$BIN/translate" --model run "$@"; }
awk '{ for (i = 1; i <= NF; i++) printf "%s%d-%d", (i > 1 ? " " : ""), i - 1, NF - i; print "" }' valid.t >gold

translate --align --target valid.t <valid.s >links 2>err
check "a line of links a pair" sh -c 'test "$(grep -cE "^([0-9]+-[0-9]+( |$))+$" links)" = 60'
awk 'NR == FNR { n[NR] = split($0, w, " "); next }
    { for (i = 1; i <= NF; i++) { split($i, at, "-"); if (at[1] >= n[FNR] || at[2] >= n[FNR]) bad = 1 } }
    END { exit bad }' valid.s links
check "links are of words that exist" test $? -eq 0

translate --align --target valid.t --gold gold <valid.s >table 2>err
check "the error rate of every layer and head" sh -c \
    'test "$(grep -cE "^layer [12] ( +[01][.][0-9]{4}){4}$" table)" = 2'
# The links printed before, scored by awk. By default they come from the norms of all layers.
aer=$(awk 'NR == FNR { for (i = 1; i <= NF; i++) right[FNR, $i] = 1; sure += NF; next }
    { for (i = 1; i <= NF; i++) hit += ((FNR, $i) in right); links += NF }
    END { printf "%.4f", 1 - 2 * hit / (links + sure) }' gold links)
check "their error rate is the table's: norm, all layers" grep -q "^all .*  $aer\$" table
least=$(grep -E '^(layer|all)' table | grep -oE '[01][.][0-9]{4}' | sort -n | head -n 1)
check "the best is the lowest of them" grep -q "^best  *layer.*AER $least, " table
check "the words of this language are aligned" awk -v a="$least" 'BEGIN { exit !(a < 0.2) }'
# The frame around a head that aligns best, as its colour in an SVG.
frame="rgb(85.098039%,42.352941%,6.27451%)"
"$latest" "$BIN/train" $corpus $tiny --decoder-layers 2 --quiet --max-updates 1 --output noise 2>err
"$BIN/translate" --model noise --attention noise.svg --given "THREE TWO ONE" --quiet "one two three" >out
check "no head of an untrained model is marked" sh -c "test -s noise.svg && ! grep -q '$frame' noise.svg"
translate --align "one two three" "" >out
check "the translation, then its links" grep -qE '^[A-Z ]+ \|\|\| [0-9]+-[0-9]+' out
check "an empty line stays empty" sh -c 'test "$(wc -l <out)" = 2 && test -z "$(sed -n 2p out)"'

translate --json --show --attention-kind all "one two" | weights >t.tsv
awk -F '\t' 'NF != 9 { bad = 1 }
    { sum[$1, $2, $3, $4, $5] += $9 } END { for (r in sum) { n++; if ((sum[r] - 1) ^ 2 > 1e-9) bad = 1 }
    exit bad || !n }' t.tsv
check "--json --show has weights, whose rows add up to 1" test $? -eq 0
check "of every kind" sh -c 'test "$(cut -f 2 t.tsv | sort -u | tr "\n" " ")" = "cross decoder encoder "'
check "of every layer and head" test "$(awk '$2 == "cross" && $5 == 1 && $7 == 1' t.tsv | cut -f 3,4 | sort -u | wc -l)" = 4
translate --json --show --layer 2 --head mean "one two" "" "three" 2>err | weights >t.tsv
check "of the chosen layer and head, and none for an empty line" sh -c 'test "$(cut -f 1-4 t.tsv | sort -u | tr "\t\n" "  ")" = "1 cross 2 mean 3 cross 2 mean "'
best=$(translate --show --head best "one two three" | sed -n 's/^Cross.*layer \([12]\) of 2.*head \([12]\).*/cross \1 \2/p')
check "--head best is the head of --show" test "$(translate --json --show --head best "one two three" | weights | cut -f 2-4 | sort -u | tr '\t' ' ')" = "$best"
for kind in encoder decoder; do
    best=$(translate --show --head best --attention-kind $kind "one two three" | sed -n "s/^.*self-attention.*layer \(.\) of .*head \(.\).*/$kind \1 \2/p")
    check "--explain follows the head of $kind --head best" test "$kind $(translate --explain --head best --attention-kind $kind "one two three" | tr '\n' ' ' | sed -n 's/.*, layer \(.\), head \(.\)[.] .*/\1 \2/p')" = "$best"
    check "also of $kind self-attention" test "$(translate --json --show --head best --attention-kind $kind "one two three" | weights | cut -f 2-4 | sort -u | tr '\t' ' ')" = "$best"
done

translate --explain "one two three" >plain
check "--explain ends in a map without colours where there is no terminal" sh -c \
    'grep -q "^[0-9]*[.] All attention weights" plain && ! grep -q "$(printf "\033")" plain'

{ cat valid.s; yes one | head -n 30 | tr '\n' ' '; echo; } >longer.s
{ cat valid.t; echo ONE; } >longer.t
{ cat gold; echo; } >longer.gold
translate --align --target longer.t --gold longer.gold <longer.s >out 2>err
check "a pair that is too long is not counted" sh -c \
    'grep -q "^Alignment error rate of 60 pairs" out && grep -q "line 61 has 30 tokens" err'
wrong "no pair has no error rate" 1 "no pair to compare with --gold links" \
    translate --align --target /dev/null --gold /dev/null </dev/null

# ---- pairs, units, JSON ----
paste valid.s valid.t >tabs && paste -d '|' valid.s valid.t | sed 's/|/ ||| /' >bars
translate --align --target valid.t <valid.s >links 2>err
for pairs in tabs bars; do
    translate --align <$pairs >out 2>err
    check "--align of $pairs reads pairs" cmp out links
done
translate --align one two >out
check "texts without them are translated" sh -c 'test "$(grep -c "^[A-Z]* ||| 0-0$" out)" = 2'
translate --align --json <tabs >out
check "--json: the links of a pair" sh -c 'test $(wc -l <out) = 60 && sed "s/.*\"alignment\":\"\([^\"]*\)\".*/\1/" out | cmp - links'
check "with scores" grep -q '^{"line":1,"unit":"word",.*"links":\[{"source":0,"target":[0-9]*,"score":0\.[0-9]*}' out
translate --align --json "one two" >out
check "and of a translation" grep -q '"alignment":"[-0-9 ]*","links":\[{"source":0,' out
for format in "" --json; do printf '42\n' | translate --align $format; done >out
check "what is only kept has no links, which both formats say" test "$(grep -cx -e '42 ||| ' \
    -e '.*"target_words":\["42"\],"unit":"word","alignment":"","links":\[\],.*' out)" = 2
printf 'one,two\tONE TWO\n' >pair && translate --align --align-unit token --json <pair >out 2>err
check "--align-unit token counts tokens" grep -q '"unit":"token".*"source":1,' out
translate --align --align-unit token <tabs >token.links 2>err
translate --align --align-unit character <tabs >out 2>err
# Each word of this language is a token, all of whose characters have its links.
paste tabs token.links | awk -F '\t' '{
    for (side = 1; side <= 2; side++) {
        at = 0; n = split($side, word, " ")
        for (i = 1; i <= n; i++) { from[side, i - 1] = at; at += length(word[i]); from[side, i] = at }
    }
    n = split($3, link, " ")
    for (k = 1; k <= n; k++) {
        split(link[k], token, "-")
        for (i = from[1, token[1]]; i < from[1, token[1] + 1]; i++)
            for (j = from[2, token[2]]; j < from[2, token[2] + 1]; j++) print NR, i "-" j
    } }' | sort >wanted
awk '{ for (k = 1; k <= NF; k++) print NR, $k }' out | sort >links.character
check "--align-unit character counts characters" sh -c 'test -s wanted && cmp wanted links.character'
printf 'one two\n' | translate --align --align-unit character >out 2>err
check "also of a translation" grep -qE '^[A-Z ]+ \|\|\| 0-[0-9]+ .*5-[0-9]+$' out
wrong "--align-unit without --align" 2 "goes with --align" translate --align-unit token one
wrong "--gold with --json" 2 "does not go with --json" translate --align --json --gold gold --target valid.t
head -n 1 tabs >wrong && echo 'no columns' >>wrong && translate --align <wrong >out 2>err
check "a line without columns is left out" sh -c 'test $(wc -l <out) = 2 && grep -q "line 2 has no TAB: left out" err'
pair=$(head -n 1 tabs) && bars=$(printf '%s' "$pair" | sed 's/\t/ ||| /')
printf '\n \r\n%s\nno columns\n' "$bars" | translate --align >out 2>err
check "empty lines before the pairs are left out" sh -c 'test $(wc -l <out) = 4 && sed -n 3p out | cmp -s - "$0" &&
    test "$(grep -c "line [124] has no |||: left out" err)" = 3' "$(printf '%s\n' "$pair" | translate --align >one.links; echo one.links)"
printf '\none two\n%s\n%s\n' "$bars" "$bars" | translate --align --quiet >out 2>err
check "--quiet" sh -c 'test ! -s err && test $(grep -c "^[A-Z <>|]*||| [0-9]" out) = 3 && test -z "$(head -n 1 out)"'
printf '\none two\n%s\n%s\n' "$bars" "$pair" | translate --align >out 2>err
check "a pair among sources is said, once" sh -c 'test "$(grep -c "has a .*but the first line has none" err)" = 1 && grep -q "line 3 has a |||" err'
printf 'one\ntwo\n\nthree\n' | translate --align --wrapped >out 2>err
check "--wrapped are sources" sh -c 'test $(wc -l <out) = 3'
printf 'one two\r\n' | translate --align >out && translate --align "one two" | cmp - out
check "CR LF" test $? -eq 0
translate --align "aa bb cc one" >out 2>err
check "each unknown word is a token" sh -c 'cut -d "|" -f 4- out | tr " " "\n" | grep -q "^3-"'

# The same language, whose pairs teach a head which words are translations.
"$latest" "$BIN/train" --train-source train.s --train-target train.t --valid-source valid.s --valid-target valid.t \
    --tokenizer word --vocab-size 60 --d-model 32 --heads 2 --ffn 64 --encoder-layers 1 \
    --decoder-layers 2 --max-length 20 --batch-tokens 300 --valid-every 200 --warmup 40 \
    --learning-rate 0.01 --schedule inverse-sqrt --quiet --max-updates 400 --guide-alignment 0.1 --output guided 2>err
"$BIN/translate" --model guided --align --target valid.t --gold gold <valid.s >table 2>err
check "a guided head aligns better than the others" grep -q "^best head  *layer 2, head 1: AER" table
"$BIN/translate" --model guided --align --target valid.t <valid.s >links 2>err
"$BIN/translate" --model guided --align --layer 2 --head 1 --target valid.t <valid.s >head.links 2>err
check "and --align uses it without gold links" cmp links head.links
"$BIN/translate" --model guided --align --head best --target valid.t <valid.s >head.links 2>err
check "also with --head best" cmp links head.links
"$BIN/translate" --model guided --align --layer 2 --head 2 --target valid.t <valid.s >other.links 2>err
check "which are not those of the other head" sh -c '! cmp -s links other.links'
"$BIN/translate" --model guided --attention guided.svg --given "THREE TWO ONE" --quiet "one two three" >out
check "pictures mark it" grep -q "$frame" guided.svg

# ---- without a model ----
toy=$here/data/toy
for side in en fr; do { gzip -dc "$toy/train.$side.gz" && cat "$toy/test.$side"; } >"toy.$side"; done
{ yes "" | head -n "$(gzip -dc "$toy/train.en.gz" | wc -l)" && cat "$toy/test.align"; } >toy.gold
alone() { "$BIN/translate" --align --no-model "$@"; }
for join in grow-diag-final-and:0.11 intersection:0.17 forward:0.12 backward:0.14; do
    alone --align-join ${join%:*} --target toy.fr --gold toy.gold <toy.en >out 2>err
    check "AER of ${join%:*} is at most ${join#*:}" awk -v most=${join#*:} '/^AER/ { aer = $2 + 0 } END { exit !(aer > 0.05 && aer <= most) }' out
done
paste toy.en toy.fr | alone >out && alone --target toy.fr <toy.en >links
check "--no-model reads columns and files" cmp out links
check "a line for each pair" test "$(wc -l <out)" -eq "$(wc -l <toy.en)"
printf 'a b\tA B\n\tC\nb\t\n' | alone >out
check "an empty side has no links" sh -c 'test $(wc -l <out) = 3 && test -z "$(sed -n 2,3p out)"'
printf 'a b c\tC B A\na c\tC A\nb\tB\nc b\tB C\n' >spaced && tr -d ' ' <spaced >joined
alone <spaced >links && alone --align-unit character <joined >out
check "characters without spaces are linked as words" cmp links out
wrong "no pair without a model" 1 "no pair to compare with --gold links" alone --target /dev/null --gold /dev/null </dev/null
wrong "tokens without a model" 2 "prints the links of words or characters" "$BIN/translate" --align --no-model --align-unit token one
wrong "a line without columns" 1 "line 2 has no TAB" sh -c 'printf "a\tb\nc\n" | "$0" --align --no-model' "$BIN/translate"
wrong "--align-join with a model" 2 "goes with --align --no-model" translate --align --align-join forward one
wrong "--no-model with --json" 2 "prints the links of words" "$BIN/translate" --align --no-model --json one

wrong "gold with an impossible link" 1 "gold1:1: there is no 99-0" sh -c \
    "echo 99-0 >gold1; echo one >s1; '$BIN/translate' --model run --align --gold gold1 --target s1 <s1"
for model in "--model run" --no-model; do
    wrong "gold without a link, $model" 1 "'g0' has no links: a line is such as \"0-0 1-2\"" sh -c \
        "echo >g0; echo one >s1; '$BIN/translate' $model --align --gold g0 --target s1 <s1"
done
wrong "too few lines of gold" 1 "has only 1 lines" sh -c \
    "echo 0-0 >g1; '$BIN/translate' --model run --align --target valid.t --gold g1 <valid.s"
wrong "--gold without --align" 2 "--gold goes with --align" translate --gold gold one
wrong "--head best of a model that does not record it" 1 "name one, or leave out --head" "$BIN/translate" --model "$here/tests/fixtures/checkpoint-1.safetensors" --align --head best one
wrong "--align with --explain" 2 "does not go with --json or --align" translate --align --explain one
wrong "a layer that does not exist" 1 "2 decoder layers" translate --align --layer 3 one
wrong "a layer that one of all kinds lacks" 1 "the model has 1 encoder layer$" "$BIN/translate" --model run --json --show --attention-kind all --layer 2 one
wrong "--word without --explain" 2 "goes with --explain" translate --word x one
