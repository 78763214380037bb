#!/bin/sh
# vocabulary.sh -- how ./train comes by its tokens: text that is cut anew in every epoch.
set -u
cd "$(dirname "$0")/.." || exit 1
BIN=$(cd "${BIN:-.}" && pwd)
. tests/shell/checks.sh
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

cd / || exit 1
[ $failures -eq 0 ]
