#!/bin/sh
# threads.sh -- a short training and a short translation under ThreadSanitizer, with two threads.
# Skipped where `make tsan` has not built the programs (scripts/test does).
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh
tsan=$here/${TSAN:-build/tsan}
if ! [ -x "$tsan/train" ] || ! [ -x "$tsan/translate" ]; then
    echo "skipped data races: make tsan builds the programs that look for them"
    exit 0
fi
# (Subwords are learned in a forked process, which starts threads.)
export TSAN_OPTIONS="exitcode=66 halt_on_error=1 die_after_fork=0 suppressions=$here/tests/fixtures/tsan.suppressions"

language 300 20
check "no data race in a training" "$tsan/train" --train-source train.s --train-target train.t \
    --valid-source valid.s --valid-target valid.t --tokenizer word --vocab-size 60 --d-model 16 \
    --heads 2 --ffn 32 --encoder-layers 1 --decoder-layers 1 --batch-tokens 300 --micro-tokens 60 \
    --max-length 20 --max-updates 20 --valid-every 10 --r-drop 1 --ema 0.9 --watch "one two" \
    --threads 2 --output run
check "no data race in a beam search" sh -c \
    "'$tsan/translate' --model run --threads 2 --beam 3 --align <valid.s"
check "no data race in a greedy search with int8" sh -c \
    "'$tsan/translate' --model run --threads 2 --beam 1 --int8 --json <valid.s"
check "no data race in scoring" sh -c \
    "paste valid.s valid.t | '$tsan/translate' --model run --threads 2 --score"
