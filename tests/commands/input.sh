#!/bin/sh
# input.sh -- what both programs read and write: compressed files, other encodings, "-", texts that
# are files, several outputs of the attention, empty lines; and the prompt.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh

language 400 60
tiny="$tiny --valid-every 60 --warmup 20 --quiet"
"$latest" "$BIN/train" $corpus $tiny --max-updates 60 --output run 2>err || fail "a model to translate with" "$(cat err)"
translate() { "$BIN/translate" --model run "$@"; }
both() { "$latest" "$BIN/train" $tiny --max-updates 1 --output "$@"; }

# ---- files that are not plain text ----
# format NAME WHAT COMMAND BYTES: a file of these bytes (printf) is named by both programs.
format() {
    printf "$4" >"$1"
    wrong "$1: ./train names the format" 1 "^train: '$1' is $2, not UTF-8 text: give <($3 '$1') in its place$" \
        both none --train-source "$1" --train-target train.t
    wrong "$1: ./translate names it" 1 "^translate: standard input is $2, .*: put $3 FILE | before the command$" \
        sh -c "'$BIN/translate' --model run <'$1'"
}
format text.xz "an xz file" xzcat '\3757zXZ\0\0\004'
format big.txt UTF-16 "iconv -f UTF-16 -t UTF-8" '\376\377\0o\0\n'
printf 'BZh one PK 7z\n' >plain
check "text that begins like one is text" sh -c "test \"\$('$BIN/translate' --model run <plain | wc -l)\" = 1"
gzip -k valid.s valid.t
translate <valid.s >expected
translate <valid.s.gz >out
check "./translate reads .gz" cmp out expected
(head -c 1 valid.s.gz; sleep 0.2; tail -c +2 valid.s.gz) | translate >out
check "also from a pipe" cmp out expected
translate --reference valid.t <valid.s 2>expected.scores >out
translate --reference valid.t.gz <valid.s.gz 2>err >out
check "and references in .gz" cmp err expected.scores

# ---- - ----
cat valid.t.gz | translate --reference - $(sed 's/.*/x/' valid.s) 2>err >out
check "--reference - is standard input, .gz, too" grep -q "^BLEU" err
translate - <valid.s >out
check "TEXT - is standard input" cmp out expected
wrong "standard input twice" 2 "only one of the input, .* can be standard input" translate --reference -
"$BIN/translate" --hypothesis - --reference valid.t --json <valid.t >out
check "--hypothesis -" grep -q '"bleu":100,' out
both dash --train-source - --train-target train.t <train.s 2>err
both file --train-source train.s --train-target train.t 2>>err
check "./train reads -" sh -c "'$BIN/translate' --model dash <valid.s >a && '$BIN/translate' --model file <valid.s | cmp - a"
wrong "./train: standard input twice" 2 "only one of the files can be -" both none --train-source - --train-target -
wrong "./train: a tokenizer and a corpus from it" 2 "only one of the files can be -" both none --tokenizer-model - \
    --train-source train.s --train-target -
"$latest" "$BIN/train" --config - --max-updates 3 --output configured <file/config.json 2>>err
check "./train reads --config -" sh -c "test -s configured/last.safetensors && '$BIN/train' --config file/config.json \\
    --max-updates 3 --output named 2>>err && cmp configured/best.safetensors named/best.safetensors"
check "./train: not --config and a corpus from standard input" sh -c "! '$BIN/train' --config - --train-source - \\
    --train-target train.t <file/config.json 2>err && grep -q 'only one of the files can be -' err"
translate --save-int8 file.int8
translate --save-int8 - >out
check "--save-int8 -" cmp out file.int8
wrong "a picture needs a format" 2 "takes the name of .*, not '-'" translate --attention - one

# ---- pipes that do not block ----
cat >open.c <<'END'
#include <fcntl.h>
#include <unistd.h>
int main(int count, char **argument)
{
    for (int fd = 0; fd < 3 && count > 1; fd++) fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    return execv(argument[1], argument + 1);
}
END
if cc -o open open.c 2>/dev/null; then
    for i in $(seq 80); do cat valid.s; done >many.s
    translate --beam 1 <many.s >many.t
    { cat many.s; sleep 1; cat valid.s; } | ./open "$BIN/translate" --model run --beam 1 2>err | { sleep 2; head -n 4800; } >out
    check "a reader or writer that is waited for gets every line" sh -c 'test "$(wc -c <out)" -gt 65536 && cmp out many.t'
    { sleep 0.3; gzip -c train.s; } | ./open "$latest" "$BIN/train" $tiny --train-source - --train-target train.t --dry-run --no-quiet --output none 2>err
    check "./train waits, too, also for .gz" grep -q "^training  *3[0-9]* pairs of 400" err
else
    echo "skipped pipes that do not block: needs cc"
fi

# ---- texts that are files ----
translate valid.s >out 2>err
check "a text that is a file is translated, with a hint" sh -c 'test "$(wc -l <out)" = 1 &&
    grep -q "^translate: '\''valid.s'\'' is a file: to translate its lines, ./translate <valid.s$" err'
translate --quiet valid.s >out 2>err
check "--quiet: no hint" test ! -s err
translate . "no file" >out 2>err
check "a folder or a text is no file" sh -c '! grep -q "is a file" err'

# ---- the attention ----
translate --attention a.png --attention b.html --attention c.png "one two" >out 2>err
check "--attention draws all that it names" sh -c \
    'test "$(grep -c "drew" err)" = 3 && cmp a.png c.png && head -c 4 a.png | grep -q PNG && grep -q "^<!DOCTYPE" b.html'
translate --attention d.png --attention e.html "one" "two" >out 2>err
check "of each of several texts" test -s d-1.png -a -s d-2.png -a -s e-1.html -a -s e-2.html
wrong "an empty text has no attention" 1 "the text has nothing to translate: it has no attention" \
    translate --attention x.png ""
printf '\none\n' | translate --attention f.png >out 2>err
check "nor has an empty line, which stops nothing" sh -c 'test $1 = 0 -a -s f-2.png -a ! -e f-1.png &&
    grep -q "^translate: line 1 has nothing to translate: it has no attention$" err' sh $?
translate --explain --attention-kind all "one two" >out 2>err
check "--explain --attention-kind all says which" grep -q "^translate: --explain .* here cross; --attention-kind " err

# ---- the attention in the terminal ----
for way in "--layer 1 --head 2" "--layer 1 --head 1 --attention-kind encoder"; do
    # shellcheck disable=SC2086
    translate --show $way "one two three" >out
    translate "one two three" >text
    # shellcheck disable=SC2086
    translate --json --show $way "one two three" | weights | awk -F '\t' '$9 >= 0.005 { n = sprintf("%.2f", $9); print n == "1.00" ? "1.0" : substr(n, 2) }' >expected
    check "--show $way prints the weights of --json" sh -c \
        "head -n 1 out | cmp - text && test \$(wc -l <expected) -gt 3 && grep -o '[.][0-9][0-9]\|1[.]0' out | cmp - expected"
done
check "in a pipe, without escapes" sh -c '! grep -q "$(printf "\033")" out'
translate --show --attention-kind all "one two" "" "three" >out 2>err
check "every kind of every text, but not of an empty one" sh -c \
    'test "$(grep -c "^[A-Z].*attention.* · " out)" = 6 && grep -q "line 2 has nothing to translate" err'
printf '{"id":[1],"text":"one"}\n {"id":"a","text":"one"}\n{"id":3,"text":"one\n{one} two\n' | "$BIN/translate" --model run --json >out 2>err
check "a line that is no object is a text" test "$(grep -c '^{"line":' out)" = 4
check "which is said" sh -c 'grep -q "line 1: the id is neither a text nor an integer: left out" err &&
    grep -q "line 3 is no object with a text (.*): it is translated as it stands" err && ! grep -q "line [24] is no object" err'
check "blanks before an object" sh -c 'grep -q "^{\"line\":2,\"id\":\"a\"," out'
wrong "--explain and --json" 2 "text for people" translate --explain --json one
wrong "--show of an empty text" 1 "nothing to translate" translate --show ""

# ---- a run that is complete ----
again() { "$latest" "$BIN/train" $corpus $tiny --max-updates 60 --output run --no-quiet "$@" >out 2>err; }
again
check "a complete run has nothing left to do" grep -q \
    "^nothing is left to do: the run in run has reached its --max-updates; a larger --max-updates goes on$" err
check "no option has changed" sh -c '! grep -q "have changed" err'
cp run/config.json run/last.safetensors .
again --learning-rate 0.02 --dropout 0.2
check "a run that does nothing keeps its configuration and its checkpoint" sh -c \
    'cmp config.json run/config.json && cmp last.safetensors run/last.safetensors'
check "changed options are named, and no others" \
    grep -q "^these options have changed, without effect: --learning-rate --dropout$" err
"$latest" "$BIN/train" $corpus $tiny --max-updates 61 --output run --no-quiet --learning-rate 0.02 2>err
check "a run that goes on says so" sh -c 'grep -q "^going on .*update 60" err && ! grep -q "is left to do" err'

# ---- the prompt ----
# terminal INPUT...: what ./translate shows for texts that are typed at its prompt, one after the
# other, without colours. The model is the built-in one: a barely trained one answers otherwise on
# another processor.
toy="$here/data/toy/model.safetensors"
# prompted BYTES: a prompt is the last thing that is shown, and more than so many bytes are.
prompted() { [ "$(tail -c 2 shown)" = "> " ] && [ "$(wc -c <shown)" -gt "$1" ]; }
terminal() {
    : >shown
    bytes=0
    {
        for typed; do
            await prompted $bytes
            bytes=$(wc -c <shown)
            printf "$typed"
        done
        await grep -q "status [0-9]" shown
    } 2>/dev/null | env --default-signal script -qefc "trap : INT; '$BIN/translate' --model '$toy'; echo status \$?; stty -a | grep -o -- '-*icanon'" shown >/dev/null 2>&1
    tr -d '\r' <shown >out
}
if script -qec true /dev/null </dev/null >script.out 2>&1; then
    # coloured VARIABLES WIDTH: the map on a terminal
    coloured() { script -qec "stty cols $2; env $1 '$BIN/translate' --model run --show 'one two three four five six'" \
        /dev/null </dev/null 2>&1 | tr -d '\r' >out; }
    coloured "COLORTERM=truecolor NO_COLOR=" 40
    check "--show on a terminal is coloured" grep -q "$(printf '\033')\[48;2;" out
    sed "s/$(printf '\033')\[[0-9;]*m//g" out >plain
    check "and as wide as the terminal" awk '/ttention ·/ { map = NR } map && NR > map && length($0) > 40 { bad = 1 }
        END { exit bad || !map || NR < map + 4 }' plain
    coloured "COLORTERM=truecolor NO_COLOR=1" 80
    check "NO_COLOR=1: no colours" sh -c 'grep -q "[.][0-9][0-9]" out && ! grep -q "$(printf "\033")" out'
    jane="jane visite l'afrique" cat="le petit chat"
    terminal 'jane visits africa\n' 'the small cat\n' '\004'
    check "a terminal gets a prompt" grep -q '^> ' out
    check "each line is answered" sh -c 'grep -qx "$1" out && grep -qx "$2" out' sh "$jane" "$cat"
    check "Ctrl-D ends it" sh -c 'grep -qx "status 0" out && grep -qx icanon out'
    terminal 'jane v\003'
    check "Ctrl-C ends it and leaves the terminal as it was" sh -c 'grep -q "status 130$" out && grep -qx icanon out'
else
    echo "skipped the prompt: script(1) is missing or gets no pseudo-terminal"
fi
