#!/bin/sh
# heads.sh -- ./translate --head-report with the model of data/toy.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh

toy=$here/data/toy
translate() { "$BIN/translate" --quiet --model "$toy/model.safetensors" "$@"; }
head -n 60 "$toy/test.en" >s
head -n 60 "$toy/test.fr" >t
lines() { test "$(wc -l <"$2")" -eq "$1"; }

# The numbers again, from single weights (one token is one word here).
translate <s >own
translate --head-report --target own --json <s >json 2>err
check "an object for each head" lines 24 json
translate --json --show --attention-kind all <s | weights >tsv
number() { grep "\"kind\":\"$1\",\"layer\":$2,\"head\":$3," json | sed "s/.*\"$4\":\([^,]*\),.*/\1/"; }
near() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && b != "" && (a - b) ^ 2 < 1e-8) }'; }
# share KIND LAYER HEAD MEASURE CONDITION: the mean weight of the columns with the condition, over the rows that have any.
share() {
    mean=$(awk -F '\t' "\$2 == \"$1\" && \$3 == $2 && \$4 == $3 && \$6 != \"</s>\" && ($5) {
        sum += \$9; if (!row[\$1, \$5]++) n++ } END { print sum / n }" tsv)
    check "$4 in $1" near "$(number "$1" "$2" "$3" "$4")" "$mean"
}
share encoder 1 4 previous '$8 != "</s>" && $7 == $5 - 1'
share encoder 1 2 next '$8 != "</s>" && $7 == $5 + 1'
share decoder 1 1 diagonal '$5 > 1 && $7 == $5'
share decoder 2 3 end '$5 > 1 && $7 == 1'
share cross 2 3 end '$8 == "</s>"'
share cross 2 1 same '$6 == $8'
share encoder 2 1 same '$6 == $8 && $5 != $7'
entropy=$(awk -F '\t' '$2 == "cross" && $3 == 2 && $4 == 3 && $6 != "</s>" {
        if ($9 > 0) sum -= $9 * log($9) / log(2); rows[$1, $5] }
    END { for (r in rows) n++; print sum / n }' tsv)
check "no next word in the decoder" test "$(number decoder 1 1 next)" = null
check "the entropy" awk -v a="$(number cross 2 3 entropy)" -v b="$entropy" 'BEGIN { exit !((a - b) ^ 2 < 1e-6) }'
translate --head-report --target t <s >report
check "a table of each kind" sh -c 'test "$(grep -c "^head .*entropy.*diagonal" report)" = 3'
check "in lines of at most 96 columns" env LC_ALL=C awk '{ gsub(/[\200-\277]/, "") } length > 96 { exit 1 }' report
LC_ALL=C.UTF-8 translate --head-report --pair-count 2 "jane visits africa" >report
check "a pair that is too rare is not typical" sh -c 'test "$(grep -c none report)" = 24'
check "the same word" sh -c "'$BIN/translate' --quiet --model '$toy/model.safetensors' --head-report --json \
    --pair-count 1 'jane visits africa' | grep 'cross.*\"layer\":2,\"head\":1' | grep -q '\"words\":\"jane → jane\"'"
translate --head-report --json --pair-count 1 "jane visits $(printf 'é%.0s' $(seq 80))" >long
check "a long word is cut between two characters" sh -c 'grep -q éééé long && ! grep -q � long'

translate --head-report --from "l'" --to africa --target own <s >ranks
mean=$(awk -F '\t' '$2 == "cross" && $3 == 2 && $4 == 1 && $6 ~ /l'"'"'$/ && $8 ~ /africa$/ { sum += $9; n++ }
    END { printf "%.4f", sum / n }' tsv)
check "every head is ranked by the weight from one word to another" lines 8 ranks
check "with its mean" grep -q "^$mean  cross   layer 2 head 1  ×" ranks
check "the largest first" sort -c -s -rn -k 1,1 ranks
language 60 10
"$BIN/train" $tiny $corpus --max-updates 2 --output run --quiet
paste valid.s valid.t | sed '1s/^/\xef\xbb\xbf/; s/$/\r/' >pairs
"$BIN/translate" --model run --head-report <pairs >report 2>said
check "a byte order mark and CR LF are no words" test ! -s said
wrong "words that are never together" 1 "in no sentence pair together$" translate --head-report --from jane --to xyz "jane sleeps"
wrong "but longer ones are" 1 "together, but these are: jane → sleeps" translate --head-report --from jane --to Sleep "jane sleeps"
wrong "one word alone" 2 "from WORD --to WORD" translate --head-report --from jane "jane sleeps"
wrong "a picture" 2 "ask for other views alone" translate --head-report --attention heads.png "jane sleeps"
wrong "--target without a reader" 2 "head-report" translate --target t "jane sleeps"

translate --explain --word africa "jane visits africa" >out
check "--word of the source follows the query that asks for it" sh -c 'grep -q "^one word, \"afrique\"\|^follows one word, \"afrique\"" out &&
    grep -q "\"africa\" is a word of the source sentence: it has a key here, and no query" out'

# ---- figures ----
translate --bare --attention bare.svg --attention bare.pdf "jane visits africa" >out
check "--bare is 240 pt wide" grep -q '<svg .*width="320px"' bare.svg
check "and smaller than the whole" test "$(wc -c <bare.svg)" -lt 60000
translate --bare --head 2 --layer 1 --attention bare.png "jane visits africa" >out
check "of one head, too" test -s bare.png
wrong "of all kinds" 2 "--bare draws one map: choose one --attention-kind" translate --bare --attention-kind all --attention bare.png "jane visits africa"
translate --words 2-3 --show "jane visits africa in september" >shown
check "--words shows these" sh -c 'grep -qx " *visits *africa *" shown && ! tail -n +2 shown | grep -q "jane\|</s>"'
translate --attention-kind decoder --words 3-5 --show "my sister does not see the red car" >shown
check "and no others of the words read" sh -c 'grep -qx " *ne *voit *pas" shown && grep -q "^ *pas .*[.]51$" shown'
for range in 0:0.5 auto 0.1:0.2; do
    translate --range $range --attention range$range.png "jane visits africa" >out
    check "--range $range" test -s range$range.png
done
check "which changes the colours" sh -c '! cmp -s range0:0.5.png range0.1:0.2.png'
translate --words 2-3 --attention part.png "jane visits africa in september" >out
translate --words 2-6 --attention rest.png "jane visits africa in september" >out
check "--words explains </s> where it is" sh -c 'grep -aq "The column of </s>" rest.png && ! grep -aq "The column of </s>" part.png'
translate --attention-kind decoder --given jane --attention one.png "jane" >out
check "a translation of one word has none after the first" grep -aq "of the decoder's input, is grey[.]" one.png
long=$(yes "jane visits africa in september" | head -n 6 | tr '\n' ' ')
translate --attention long.html --split never "$long" >out
check "a page of it has them, too" sh -c 'grep -q "\"causal\":false,\"high\":0[.]" long.html'
translate --bare --words 1-9 --attention part.png "$long" >out
translate --bare --words 1-9 --attention auto.png --range auto "$long" >out
check "the colours of a part of a long sentence follow its weights" cmp part.png auto.png
wrong "a range that is none" 2 "takes auto or LOW:HIGH" translate --attention a.png --range 0.5:0 "jane sleeps"
wrong "words that are none" 2 "takes FIRST-LAST, such as 10-25, not '9-2'" translate --show --words 9-2 "jane sleeps"
wrong "more words than a number can count" 2 "takes FIRST-LAST" translate --show --words 1-4294967298 "jane sleeps"
wrong "words past the end" 1 "a sentence has only 3 words" sh -c '"$0" "$@" >/dev/null' \
    "$BIN/translate" --quiet --model "$toy/model.safetensors" --words 8-9 --show "jane sleeps"
wrong "a page" 2 "a .png, .svg or .pdf file" translate --bare --attention x.html "jane sleeps"
for option in "--words 1-2" "--range 0:0.5" "--range auto" "--font Sans"; do
    wrong "$option of a page" 2 "a page and --json show the whole: .*${option% *}" translate $option --attention x.html "jane sleeps"
done
wrong "--words of JSON" 2 "--words is for these and for --show" translate --words 1-2 --show --json "jane sleeps"
check "but of a picture beside a page" translate --words 1-2 --attention x.html --attention x.png "jane sleeps"
wrong "a font that is not there" 1 "no font of the family 'Nosuch'" sh -c '"$0" "$@" >/dev/null' \
    "$BIN/translate" --quiet --model "$toy/model.safetensors" --font Nosuch --attention x.png "jane sleeps"

# ---- the head that aligns best, as training found out ----
language 600 60
check "a model that reverses sentences" "$BIN/train" $tiny $corpus --max-updates 1500 --valid-every 500 --quiet --output reversed
member() { tr -d '\\' <"reversed/$1.safetensors" | grep -ao "\"aligning_$2\": [0-9]*" | head -n 1 | grep -o '[0-9]*$'; }
layer=$(member best layer) head=$(member best head)
check "its best model has the head" test "${layer:-0}" -eq 1 -a "${head:-0}" -ge 1
check "its last one does not" test "$(member last head)" = 0
check "it has a shortlist, too" grep -qa '"shortlist":{"dtype":"I16"' reversed/best.safetensors
"$BIN/translate" --quiet --model reversed --int8 <valid.s >int8
"$BIN/translate" --quiet --model reversed --int8 --shortlist <valid.s >short
check "with which translations are the same" sh -c 'test "$(diff int8 short | grep -c "^<")" -le 2'
"$BIN/translate" --quiet --model reversed --save-int8 small.safetensors
check "and a stored model has it" sh -c "'$BIN/translate' --quiet --model small.safetensors --shortlist <valid.s | cmp short"
wrong "a model without one" 1 "this model has no --shortlist" "$BIN/translate" --quiet --model reversed/last.safetensors --int8 --shortlist "one"
wrong "a shortlist of floats" 1 "is for a model in int8" "$BIN/translate" --quiet --model reversed --shortlist "one"
"$BIN/translate" --quiet --model reversed --head best --show "one three five" >shown
check "it is the best head" grep -q "layer 1 of 1 · head $head\$" shown
awk '{ line = ""; for (i = 1; i <= NF; i++) line = line (i > 1 ? " " : "") i - 1 "-" NF - i; print line }' valid.s >valid.align
aer() { "$BIN/translate" --quiet --model reversed --align --target valid.t --gold valid.align <valid.s |
    awk -v head="$1" '/^layer 1 / { print $(2 + head) }'; }
check "no other one has a lower error rate" awk -v a="$(aer "$head")" -v b="$(aer $((3 - head)))" 'BEGIN { exit !(a != "" && a <= b && a < 0.45) }'
