#!/bin/sh
# vocabulary.sh -- how ./train gets its vocabulary: learned, one for each language, from models made
# elsewhere; and configurations with options that are no longer supported.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh

language 400 60
tiny="--preset tiny --d-model 16 --heads 2 --ffn 32 --encoder-layers 1 --decoder-layers 1 --max-length 60
      --batch-tokens 900 --micro-tokens 150 --valid-every 30 --warmup 5
      --learning-rate 0.01 --schedule inverse-sqrt --dropout 0.1 --quiet"
train() { "$BIN/train" $corpus $tiny "$@"; }

# ---- a vocabulary for each language ----
two="--vocabulary separate --tying decoder --tokenizer bpe --vocab-size 70"
"$BIN/train" $corpus $tiny --no-quiet $two --max-updates 60 --threads 1 --output two.whole >out 2>err
check "two vocabularies: a run trains" test $? -eq 0
check "two vocabularies: the report has both" \
    grep -q "^vocabulary *70 source tokens (bpe), 70 target tokens (bpe)" err
train $two --max-updates 23 --threads 2 --output two.parts 2>err
train $two --max-updates 60 --threads 3 --output two.parts 2>err
check "two vocabularies: stopped in between, the same bytes" \
    cmp two.whole/last.safetensors two.parts/last.safetensors
"$BIN/translate" --model two.whole <valid.s >out 2>err
check "two vocabularies: they translate" sh -c 'test "$(wc -l <out)" = 60'
check "two vocabularies: source letters in, target letters out" sh -c '! grep -q "[a-z]" out'
check "two vocabularies: attention is drawn" \
    "$BIN/translate" --model two.whole --attention two.png --quiet "one two"

# ---- models from elsewhere: here, from another run's checkpoint, whose last tensors they are ----
tensor_size() { sed -n "s/.*\"$2\":{\"dtype\":\"U8\",\"shape\":\[\([0-9]*\)\].*/\1/p" "$1" | head -n 1; }
file=two.whole/last.safetensors
source_size=$(LC_ALL=C tensor_size $file tokenizer.source)
target_size=$(LC_ALL=C tensor_size $file tokenizer)
tail -c "$source_size" $file >source.model
tail -c $((source_size + target_size)) $file | head -c "$target_size" >target.model
models="--vocabulary separate --tying decoder --tokenizer-model source.model --tokenizer-model target.model"
train $models --max-updates 60 --output models 2>err
check "models from files: a run trains" test $? -eq 0
check "models from files: the same translations" sh -c "
    '$BIN/translate' --model models <valid.s >models.out && cmp out models.out"
train --tokenizer-model target.model --max-updates 2 --output one.model 2>err
check "one model from a file, for both languages" test $? -eq 0

# ---- what can be wrong ----
once() { train --max-updates 1 --output wrong "$@"; }
wrong "two vocabularies, one embedding" 2 "--tying decoder or none" once --vocabulary separate
wrong "two vocabularies, both directions" 2 "leave one out" once --vocabulary separate --tying none --both-directions 1
wrong "two models for one vocabulary" 2 "names 2 files" once --tokenizer-model a --tokenizer-model b
wrong "one model for two vocabularies" 2 "names 1 files" once --vocabulary separate --tying none \
    --tokenizer-model target.model
wrong "a model that is not there" 1 "nowhere.model" once --tokenizer-model nowhere.model
wrong "a model that is none" 1 "train.s.*no SentencePiece model" once --tokenizer-model train.s
train --tokenizer word --vocab-size 60 --max-updates 1 --output words 2>err
wrong_run() { train "$@" --tying decoder --max-updates 2 --output words 2>err; test $? -ne 0; }
check "another vocabulary in the folder" wrong_run --tokenizer word --vocab-size 60 \
    --vocabulary separate
check "it says which option" grep -q "started with another --vocabulary" err

# ---- options that a run of an earlier version may have: one key of its configuration is replaced by another
# with the same number of bytes, and the header's checksum is renamed away ----
train --tokenizer bpe --vocab-size 70 --max-updates 4 --output old 2>err
cp old/last.safetensors now.safetensors
"$BIN/translate" --model now.safetensors <valid.s >now.out 2>err
earlier() {
    value=$(printf '%-*s' $((19 - ${#1})) "$2")
    LC_ALL=C sed "s/character_coverage\(..: *\)0/$1\1$value/; s/crc32.header/crc32.HEADER/" now.safetensors >old/last.safetensors
    grep -qa "$1" old/last.safetensors
}
go_on() { train --tokenizer bpe --vocab-size 70 --max-updates 5 --output old; }
for key in "subword_dropout 0" "source_vocab_size 0"; do
    check "$key, which is what the program does now: the run goes on" eval "earlier $key && go_on"
done
for key in "subword_dropout 0.20" "target_vocab_size 60"; do
    earlier $key
    wrong "$key: the run does not go on" 1 "'data.${key% *}' is no longer supported: only 0 goes on" go_on
    check "$key: it translates as without" sh -c "'$BIN/translate' --model old/last.safetensors <valid.s | cmp - now.out"
done
