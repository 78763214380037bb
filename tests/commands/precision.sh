#!/bin/sh
# precision.sh -- training with --precision bf16: the same bits for any number of threads and after
# resume, about the same losses with the kernels of every kind, and a float model at the end.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh

language 400 60
train() { "$latest" "$BIN/train" $corpus $tiny --dropout 0.1 --valid-every 50 --quiet "$@" 2>err; }
losses() { sed -n '/"train"/s/.*"loss":\([^,}]*\).*/\1/p' "$1/metrics.jsonl"; }
# close NAME RUN: each loss of its training is within 0.3 % of that of the run `bf16`, and not all are equal to float's.
close() {
    losses "$2" >"$2.losses"
    check "$1: its losses are within 0.3 % of those of bf16" sh -c 'losses=$(wc -l <bf16.losses)
        test "$losses" = 36 && paste bf16.losses "$0" | awk "{ if ((\$1 - \$2) ^ 2 > (0.003 * \$1) ^ 2) bad++ } END { exit NR != 36 || bad }"' "$2.losses"
}

train --max-updates 100 --output float
train --precision bf16 --max-updates 100 --threads 1 --output bf16
losses bf16 >bf16.losses
close "float" float
check "but other numbers" sh -c '! cmp -s "$0" "$1"' bf16.losses float.losses
train --precision bf16 --max-updates 100 --threads 3 --output threads
check "the same bits with three threads" cmp bf16/last.safetensors threads/last.safetensors
train --precision bf16 --max-updates 40 --output resumed
train --precision bf16 --max-updates 100 --output resumed
check "and after resume" cmp bf16/last.safetensors resumed/last.safetensors
check "the run remembers it" grep -q '"precision": *"bf16"' bf16/config.json
for kind in plain avx2 avx512 amx; do
    QKV_KERNEL=$kind train --precision bf16 --max-updates 100 --output $kind || {
        grep -q "does not have the instructions\|QKV_KERNEL is" err && echo "skipped $kind: $(cat err)" || fail "$kind" "$(cat err)"
        continue
    }
    close "$kind" $kind
done
check "its model translates" "$BIN/translate" --model bf16 "one two"
wrong "a precision that there is not" 2 "precision takes float or bf16" "$BIN/train" --precision fp8
