#!/bin/sh
# vocabulary.sh -- how ./train comes by its tokens: text that is cut anew in every epoch, a
# vocabulary for each language, models from elsewhere.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh
cd "$room" || exit 1

language 400 60
tiny="--d-model 16 --heads 2 --ffn 32 --encoder-layers 1 --decoder-layers 1 --max-length 60
      --batch-tokens 900 --micro-tokens 150 --valid-every 30 --log-every 30 --warmup 5
      --learning-rate 0.01 --schedule inverse-sqrt --dropout 0.1 --quiet"
corpus="--train-source train.s --train-target train.t --valid-source valid.s --valid-target valid.t"
train() { "$BIN/train" $corpus $tiny "$@"; }

# ---- cut anew in every epoch ----
for kind in "bpe --subword-dropout 0.2" "unigram --subword-alpha 0.1"; do
    type=${kind%% *}
    cut="--tokenizer $kind --vocab-size 70"
    train $cut --max-updates 60 --threads 1 --output "$type.whole" 2>err
    check "$type: cut anew, a run trains" test $? -eq 0
    train $cut --max-updates 23 --threads 3 --output "$type.parts" 2>err
    train $cut --max-updates 60 --threads 2 --output "$type.parts" 2>err
    check "$type: with threads and stopped in between, the same bytes" sh -c "
        sed 's/,\"seconds.*//' $type.whole/metrics.jsonl | tail -1 >a
        sed 's/,\"seconds.*//' $type.parts/metrics.jsonl | tail -1 >b
        cmp $type.whole/last.safetensors $type.parts/last.safetensors && cmp a b"
    train --tokenizer "$type" --vocab-size 70 --max-updates 60 --output "$type.usual" 2>err
    check "$type: cut anew, another model" sh -c \
        "! cmp -s $type.whole/best.safetensors $type.usual/best.safetensors"
done

# ---- a vocabulary for each language ----
two="--vocabulary separate --tying decoder --tokenizer bpe --vocab-size 70 --target-vocab-size 60"
"$BIN/train" $corpus $tiny --no-quiet $two --max-updates 60 --threads 1 --output two.whole >out 2>err
check "two vocabularies: a run trains" test $? -eq 0
check "two vocabularies: the report has both" \
    grep -q "^vocabulary *70 source tokens (bpe), 60 target tokens (bpe)" err
train $two --max-updates 23 --threads 2 --output two.parts 2>err
train $two --max-updates 60 --threads 3 --output two.parts 2>err
check "two vocabularies: stopped in between, the same bytes" \
    cmp two.whole/last.safetensors two.parts/last.safetensors
"$BIN/translate" --model two.whole <valid.s >out 2>err
check "two vocabularies: they translate" sh -c 'test "$(wc -l <out)" = 60'
check "two vocabularies: source letters in, target letters out" sh -c '! grep -q "[a-z]" out'
check "two vocabularies: attention is drawn" \
    "$BIN/translate" --model two.whole --attention two.png --quiet "one two"
train $two --subword-dropout 0.3 --max-updates 30 --output two.cut 2>err
check "two vocabularies: cut anew in every epoch" test $? -eq 0

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
wrong "a size for a side of a joint vocabulary" 2 "for --vocabulary separate" once --source-vocab-size 50
wrong "two models for one vocabulary" 2 "names 2 files" once --tokenizer-model a --tokenizer-model b
wrong "one model for two vocabularies" 2 "names 1 files" once --vocabulary separate --tying none \
    --tokenizer-model target.model
wrong "a model that is not there" 1 "nowhere.model" once --tokenizer-model nowhere.model
wrong "a model that is none" 1 "train.s.*no SentencePiece model" once --tokenizer-model train.s
wrong "dropout for a unigram" 2 "only a tokenizer of type bpe" once --tokenizer unigram --subword-dropout 0.1
wrong "alpha for bpe" 2 "only a tokenizer of type unigram" once --tokenizer bpe --subword-alpha 0.1
wrong "dropout for words" 2 "only a tokenizer of type bpe" once --tokenizer word --subword-dropout 0.1
wrong "alpha for a model of bpe" 1 "only a tokenizer of type unigram" once --tokenizer-model target.model \
    --subword-alpha 0.1
train --tokenizer word --vocab-size 60 --max-updates 1 --output words 2>err
wrong_run() { train "$@" --tying decoder --max-updates 2 --output words 2>err; test $? -ne 0; }
check "another vocabulary in the folder" wrong_run --tokenizer word --vocab-size 60 \
    --vocabulary separate
check "it says which option" grep -q "started with another --vocabulary" err

cd / || exit 1
[ $failures -eq 0 ]
