#!/bin/sh
# neighbours.sh -- ./translate --neighbours with the model of data/toy.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh

toy=$here/data/toy
translate() { (cd "$here" && exec "$BIN/translate" --quiet --model "$toy/model.safetensors" "$@"); }  # the training text is data/toy
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
LC_ALL=C sed 's/crc32[.]header/crc32.headex/; s|\\"data/toy/train.en.gz\\"|1                       |' "$toy/model.safetensors" >numbers
(cd "$here" && "$BIN/translate" --model "$scratch/numbers" --neighbours jane) >words 2>err
check "a training text without a name" sh -c 'grep -q "the training text (none) is not here" err && test "$(wc -l <words)" = 9'
wrong "a word that is no token" 1 "'afrca' is no token of this model: see --list-vocabulary" translate --neighbours afrca
wrong "--target without a reader" 2 "head-report" translate --target t "jane sleeps"

# What is no text: placeholders, and the bytes of --byte-fallback.
language 60 6
"$latest" "$BIN/train" $tiny $corpus --tokenizer bpe --vocab-size 330 --byte-fallback --augment 0.5 --max-updates 2 --quiet --output run
check "neighbours are text" sh -c '"$0/translate" --model run --quiet --neighbours one >words && grep -q ^encoder words && ! grep -q "<" words' "$BIN"
check "as --list-vocabulary spells it" sh -c '"$0/translate" --model run --quiet --neighbours "▁one" | cmp - words' "$BIN"
"$BIN/translate" --model run --explain --word 25 --backward "one 25" >explained
check "--explain ranks the number that is written" sh -c 'test $(grep -c "^  25  *-*[0-9.]*  *[0-9.]*" explained) -ge 2 && ! grep -q "<ph1>" explained'
