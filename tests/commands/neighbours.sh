#!/bin/sh
# neighbours.sh -- ./translate --neighbours and --exposure with the model of data/toy.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh

toy=$here/data/toy
translate() { "$BIN/translate" --quiet --model "$toy/model.safetensors" "$@"; }
head -n 60 "$toy/test.en" >s
head -n 60 "$toy/test.fr" >t
lines() { test "$(wc -l <"$2")" -eq "$1"; }

translate --neighbours jane >words
check "a line of embeddings, and one of keys for each head" lines 9 words
check "names are near a name" sh -c 'head -n 1 words | grep -q "^source cosine .*david"'
check "its own key answers a query" grep -q '^decoder 1.1  *jane ' words
tr ' ' '\n' <"$toy/test.en" | sort -u >english
check "keys of the encoder are English words" sh -c \
    "awk '/^encoder/ { for (i = 3; i <= NF; i += 2) print \$i }' words | sort -u | comm -23 - english >none && test ! -s none"
translate --neighbours africa >words
check "a word that the decoder never reads has no lines there" sh -c '! grep -q ^decoder words && grep -q ^encoder words'
wrong "a word that is no token" 1 "'afrca' is no token of this model, but 'africa' is" translate --neighbours afrca

translate --exposure e.png --target t <s >table 2>err
check "a picture" sh -c 'head -c 4 e.png | grep -q PNG'
loss=$(translate --score --json --target t <s | sed -n 's/.*"loss":\([^,]*\),.*/\1/p')
forced=$(awk '$1 ~ /^[0-9]+$/ { n += $2; sum += $2 * $4 } END { print -sum / n }' table)
check "teacher forcing has the loss of --score" awk -v a="$loss" -v b="$forced" 'BEGIN { exit !(a && (a - b) ^ 2 < 1e-7) }'
translate --beam 1 --no-copy-unknown <s >own
translate --exposure e.png --target own <s >same
check "greedy search does not part from its own translations" awk \
    '$1 ~ /^[0-9]+$/ { n++; if ($8 != 0 || $4 != $6 || $5 != 1 || $7 != 1) exit 1 } END { exit !n }' same
sed 's/^[^ ]* /chat /' own >other
translate --exposure e.png --target other <s >parted
check "but from others, where they differ" awk '$1 == 1 { exit !($8 == 1 && $5 == 0 && $7 == 0) }' parted
check "and knows less after that" awk '$1 == "after" { exit !($2 > 100 && $6 < $4 && $7 < $5) }' parted
wrong "exposure without translations" 2 "takes one model and --target" translate --exposure e.png "jane sleeps"
wrong "exposure with other output" 2 "ask for other views alone" translate --exposure e.png --target t --json "jane sleeps"
wrong "--target without a reader" 2 "exposure" translate --target t "jane sleeps"
