#!/bin/sh
# hostile.sh -- texts and names that command a terminal, and bytes that are no UTF-8: nothing that is
# shown holds a control character, and every line has its translation.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh
LC_ALL=C
export LC_ALL

escape=$(printf '\033') c1=$(printf '\302\233') bidi=$(printf '\342\200\256') bad=$(printf '\357\277\275')
# clean FILE: it has no C0 but tab and newline, no C1, no bidirectional override.
clean() { test -s "$1" && ! grep -q "$(printf '[\001-\010\013-\037\177]')\|$c1\|$bidi" "$1"; }
# shows NAME FILE: a clean file, which shows what was replaced.
shows() {
    if ! clean "$2"; then fail "$1" "$(grep -n "$escape\|$c1\|$bidi" "$2" | head -n 2 | od -c | head -n 3)"
    elif ! grep -q "$bad" "$2"; then fail "$1" "nothing is replaced: $(head -n 3 "$2")"
    else pass "$1"; fi
}

# A corpus with such words: a sequence that clears the screen, one in C1, and an override.
language 400 60
for file in train.s train.t valid.s valid.t; do
    sed "s/three/th${escape}[2Jree/g; s/THREE/TH${escape}[2JREE/g; s/four/fo${c1}2Jur/g; s/five/fi${bidi}ve/g
         s/FIVE/FI${bidi}VE/g" $file >changed && mv changed $file
done
tiny="$tiny --valid-every 60 --warmup 20"
"$latest" "$BIN/train" $corpus $tiny --max-updates 60 --output run 2>err || fail "a model to translate with" "$(tail -n 1 err)"
shows "./train: validation samples" err
translate() { "$BIN/translate" --model run "$@"; }

odd="a${escape}[31m${c1}${bidi}.png"
translate --attention "$odd" "one two" >out 2>err
check "./translate --attention FILE" test $? -eq 0
shows "./translate: a file that was drawn" err
check "the file itself has its name" test -s "$odd"
translate "zero${escape}[31m ze${c1}ro z${bidi}ero" >out 2>err
shows "./translate: unknown words" err
translate --model "no$odd" one >out 2>err
shows "./translate: errors" err
"$latest" "$BIN/train" --train-source "no$odd" --train-target "no$odd" --output none >out 2>err
shows "./train: errors" err
word="one th${escape}[2Jree fo${c1}2Jur fi${bidi}ve"
translate --explain "$word" >out 2>err
shows "./translate --explain" out
translate --explain --given "$word" "$word" >out 2>err
shows "./translate --explain --given" out
NO_COLOR=1 translate --show --given "$word" "$word" >shown 2>err
tail -n +3 shown >out  # below the translation
shows "./translate --show" out
translate --json --given "$word" "$word" >out 2>err
check "./translate --json" clean out
check "--json means the same text" sh -c 'grep -q "u001b" out && grep -q "u009b" out && grep -q "u202e" out'
translate --list-vocabulary >out
check "--list-vocabulary in a file is as it is" grep -q "$bidi" out
translate --given "$word" "$word" >out
check "a translation in a file is as it is" grep -q "$bidi" out
if script -qec true /dev/null </dev/null >script.out 2>&1; then
    script -qec "'$BIN/translate' --model run --quiet --given '$word' '$word'" /dev/null </dev/null | tr -d '\r' >out
    shows "a translation in a terminal is shown" out
    script -qec "'$BIN/translate' --model run --list-vocabulary" /dev/null </dev/null | tr -d '\r' >out
    shows "--list-vocabulary in a terminal is shown" out
else
    echo "skipped what a terminal shows: script is missing"
fi

# ---- bytes that are no UTF-8 ----
printf 'one\nt\377wo\n\nth\0ree\n\303\n' >broken
translate <broken >out 2>err
check "invalid lines are translated" test $? -eq 0
check "N lines in, N lines out" sh -c 'test $(wc -l <out) = 5 && test -z "$(sed -n 3p out)"'
check "their number is said" grep -q "^translate: standard input: 3 lines with invalid UTF-8, where U+FFFD was read" err
translate --json <broken >out 2>err
check "U+FFFD is in the text" grep -q "\"unknown\":\[\"t${bad}wo\"\]" out
translate --quiet <broken >out 2>err
check "--quiet does not say it" test ! -s err
translate <valid.s >out 2>err
check "without invalid lines nothing is said" sh -c '! grep -q "invalid UTF-8" err'
translate --invalid stop <broken >out 2>err
check "--invalid stop ends at the first" sh -c 'test $0 -eq 1 && test $(wc -l <out) = 1 &&
    grep -q "standard input:2: not valid UTF-8 (byte 2 of the line is 0xff).* --invalid" err' $?
translate "on$(printf '\377')e" >out 2>err
check "an invalid TEXT is translated" test $? -eq 0
wrong "an invalid TEXT with --invalid stop" 1 "text 1 is not valid UTF-8 (byte 3)" \
    translate --invalid stop "on$(printf '\377')e"
"$BIN/translate" --hypothesis broken --reference broken >out 2>err
check "--hypothesis and --reference" sh -c 'grep -q "^chrF2|.* = 100" out && test $(grep -c "^translate: broken: 3 lines with invalid" err) -eq 2'
printf 'Une fillette écoute sa grand-mère près de la fenêtre.\n' >utf8
iconv -f UTF-8 -t LATIN1 utf8 >latin1
"$BIN/translate" --hypothesis utf8 --reference latin1 >out 2>err
check "the file of another encoding" sh -c 'test $(grep -c invalid err) -eq 1 &&
    grep -q "latin1: 1 line with invalid UTF-8, .* by iconv -f LATIN1 -t UTF-8$" err'
printf 'a\0b\n' >nul
"$BIN/translate" --hypothesis nul --reference nul >out 2>err
check "a NUL byte is of any encoding" grep -q "nul: 1 line with invalid UTF-8, where U+FFFD was read$" err
printf 'one\tO\377NE\n' >pairs
translate --score <pairs >out 2>err
check "--score" sh -c 'test $(wc -l <out) = 1 && grep -q "1 line with invalid UTF-8" err'
wrong "another word for --invalid" 2 "takes stop or replace" translate --invalid ignore one

{ cat train.s; printf 't\377wo\n'; } >broken.s
{ cat train.t; echo TWO; } >broken.t
broken="--train-source broken.s --train-target broken.t --valid-source valid.s --valid-target valid.t"
wrong "./train stops" 1 "broken.s:401: not valid UTF-8.* --invalid to replace" "$latest" "$BIN/train" $broken $tiny --quiet --output none
"$latest" "$BIN/train" $broken $tiny --invalid replace --max-updates 1 --output replaced 2>err
check "./train --invalid replace" test -s replaced/last.safetensors
check "./train says how many lines" grep -qx "  invalid     1 line with invalid UTF-8, where U+FFFD was read" err
paste broken.s broken.t >broken.tsv
"$latest" "$BIN/train" --train-tsv broken.tsv $tiny --invalid replace --dry-run --output none 2>err
check "./train --train-tsv" grep -q "^  invalid     1 line" err

# ---- lines of megabytes ----
awk 'BEGIN { for (i = 0; i < 150000; i++) {
    word = ""
    for (n = i; n || word == ""; n = int(n / 10)) word = sprintf("%c", 97 + n % 10) word
    printf "%sz%s", i ? " " : "", word } print "" }' >unknown
timeout "${TIMEOUT:-100}" "$BIN/translate" --model run --json <unknown >out 2>err
check "150,000 unknown words, in linear time" grep -q '"unknown":\["za",.*,"zbi"\]' out
check "of which a few are named" grep -qx "translate: line 1: not in this model's vocabulary: za, zb, .*, zj, and 9 more" err
head -c 1000000 /dev/zero | tr '\0' z | translate >out 2>err
check "a word of a megabyte is named by its beginning" grep -qx "translate: line 1: .*: z\{80\}…" err
{ echo one; yes 'one two' | tr '\n' ' ' | head -c 17000000; echo; echo two; } >long
translate one "$(yes one two | head -n 10 | tr '\n' ' ')" two >expected 2>err
translate <long >out 2>err
check "a line of 17 MB is cut as others are, and the rest goes on" sh -c 'test $0 = 0 && cmp out expected' $?
check "it is said" grep -qx "translate: line 2 has at least [0-9]* tokens without the end of a sentence; only the first 19 are translated.*" err

# ---- one line that is too long, or not what it should be ----
x=$(head -c 1050000 /dev/zero | tr '\0' x)
for side in s t; do { cat valid.$side; echo "$x"; } >long.$side; done
"$latest" "$BIN/train" --train-source train.s --train-target train.t --valid-source long.s --valid-target long.t $tiny \
    --valid-every 4 --max-updates 4 --output kept 2>err
check "./train leaves a validation sentence out that cannot be scored" test $? -eq 0 -a -s kept/best.safetensors
check "and says which" grep -qx "  skipped     1 pair: longer than --max-length (line 61)" err
translate <valid.s 2>err >out
translate --reference valid.t <valid.s 2>err >out
grep "^BLEU\|^chrF" err >scores
translate --reference long.t <long.s 2>err >long.out
check "./translate goes on, and does not score it" sh -c 'test $0 -eq 0 && head -n 60 long.out | cmp - out && test $(wc -l <long.out) = 61 &&
    grep "^BLEU\|^chrF" err | cmp - scores && grep -q "^translate: long.t:61: .* too long to score: left out$" err' $?
"$BIN/translate" --hypothesis long.t --reference long.t >scores 2>err
check "nor does --hypothesis" sh -c 'grep -q "^BLEU|.* = 100.00" scores && grep -q "^translate: long.t:61: " err'
head -n 30 valid.t >half.t
translate --reference half.t <valid.s 2>err >half.out
check "references that end early end no translation" sh -c 'test $0 -eq 1 && cmp out half.out && tail -n 1 err | grep -q "has only 30 lines"' $?
paste valid.s valid.t | sed '31s/\t.*//' >pairs
translate --score <pairs >out 2>err
check "--score goes on without a TAB" sh -c 'test $0 -eq 0 && test "$(grep -n nan out | tr "\n" " ")" = "31:nan " && test $(wc -l <out) = 60 &&
    grep -qx "translate: line 31 has no TAB: left out" err' $?
sed 's/.*/0-0/; 31s/.*/0-999/' valid.s >gold
translate --align --target valid.t --gold gold <valid.s >out 2>err
check "--gold goes on without links" sh -c 'test $0 -eq 0 && grep -q "rate of 59 pairs" out && grep -q "^translate: gold:31: there is no 0-999 .*: left out$" err' $?

# ---- rubbish ----
flood 2000 1
