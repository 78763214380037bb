#!/bin/sh
# processor.sh -- a run that goes on on another processor: its arithmetic rounds otherwise, so the bytes
# are others, but it ends as well. The other processor is one of 2003, whose instructions all of
# x86-64 have.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh

language 400 60
train() { "$latest" "$BIN/train" $corpus $tiny --dropout 0.1 --valid-every 100 --quiet "$@" 2>err; }
elsewhere() { QKV_KERNEL=plain train "$@"; }
loss() { sed -n '/"valid"/s/.*"loss":\([^,}]*\).*/\1/p' "$1/metrics.jsonl" | tail -n 1; }
# ends_as NAME RUN: its last loss is within 0.1 % of that of the run that went on nowhere.
ends_as() { check "$1 ($(loss "$2"), not $(loss here))" awk -v a="$(loss "$2")" -v b="$(loss here)" \
    'BEGIN { exit !(a ~ /^[0-9.]+$/ && a > 0 && (a - b) ^ 2 < (0.001 * b) ^ 2) }'; }

train --max-updates 300 --output here
elsewhere --max-updates 300 --output there
if cmp -s here/last.safetensors there/last.safetensors; then
    echo "skipped another processor: this one has only the plain kernels"
    exit 0
fi
for bad in neon:"QKV_KERNEL is 'plain'.*, not 'neon'" $(grep -qw avx512vl /proc/cpuinfo || echo avx512:.*processor.*avx512.); do
    QKV_KERNEL=${bad%%:*} "$BIN/translate" --model here one 2>err
    check "QKV_KERNEL=${bad%%:*}: a sentence" sh -c 'test $0 -eq 1 && test "$(wc -l <err)" -eq 1 && grep -q "$1" err' $? "${bad#*:}"
done
ends_as "trained there" there
train --max-updates 150 --output away
QKV_KERNEL=plain "$latest" "$BIN/train" $corpus $tiny --dropout 0.1 --valid-every 100 --max-updates 300 --output away 2>err
check "begun here, it goes on there" test $? -eq 0
check "which is said" grep -q "kernels  *plain, no longer [ap]" err
ends_as "as well" away
elsewhere --max-updates 150 --output back
check "begun there, it goes on here" train --max-updates 300 --output back
ends_as "as well, too" back
check "its history is whole" test "$(grep -c '"valid"' back/metrics.jsonl)" = 4
check "and its model translates" "$BIN/translate" --model back "one two"

# ---- OpenBLAS ----
# wide COMMAND...: a network whose products are large enough for it.
wide() { "$@" --d-model 64 --ffn 128 --micro-tokens 300 --batch-tokens 1200 --valid-every 10; }
blas() { QKV_KERNEL=openblas wide train "$@"; }
wide train --max-updates 20 --output ours
for threads in 1 2 3; do blas --max-updates 20 --threads $threads --output blas$threads; done
check "OpenBLAS gives other digits" sh -c '! cmp -s ours/best.safetensors blas1/best.safetensors'
check "2 threads leave the same bytes as 1" cmp blas1/last.safetensors blas2/last.safetensors
check "3 threads, too" cmp blas1/last.safetensors blas3/last.safetensors
check "the run remembers it" grep -aq 'kernels[^,}]*-openblas-[0-9.]*-[a-z0-9]' blas1/last.safetensors
blas --max-updates 10 --output blas
blas --max-updates 20 --output blas
check "it goes on with the same bytes" cmp blas1/last.safetensors blas/last.safetensors
QKV_KERNEL=plain wide "$latest" "$BIN/train" $corpus $tiny --dropout 0.1 --max-updates 22 --output blas 2>err
check "other kernels are said" grep -q "kernels  *plain, no longer .*-openblas-" err
mkdir broken
echo broken >broken/libopenblas.so.0
LD_LIBRARY_PATH=$PWD/broken QKV_KERNEL=openblas wrong "a library that cannot be loaded" 1 \
    "^train: cannot load OpenBLAS: .*libopenblas.so.0.*QKV_KERNEL" "$latest" "$BIN/train" $corpus $tiny --max-updates 1 --output none
check "is not needed otherwise" env LD_LIBRARY_PATH="$PWD/broken" QKV_KERNEL=plain "$BIN/translate" --model here one
