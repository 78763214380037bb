#!/bin/sh
# cluster.sh -- ./train under mpirun: the same bytes as one process leaves, from any number of
# ranks; going on with another number; signals, a rank that dies, and what can be wrong on one
# rank alone.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh
if ! mpi_here; then
    echo "skipped several ranks: ./train is built without MPI, or there is no mpirun"
    exit 0
fi

language 200 40

# Seven slices of parameters, five accumulators, now fewer micro-batches than these, now more.
options="--preset tiny --tokenizer word --normalization identity --vocab-size 60 --d-model 64 --heads 2 --ffn 128
    --encoder-layers 1 --decoder-layers 1 --max-length 20 --batch-tokens 200 --micro-tokens 30
    --accumulators 5 --valid-every 10 --warmup 5 --learning-rate 0.003
    --schedule inverse-sqrt --dropout 0.2 --attention-dropout 0.1 --activation-dropout 0.1
    --clip-norm 0.5 --ema 0.9 --augment 0.5 --train-source train.s --train-target train.t --valid-source valid.s
    --valid-target valid.t"
one() { "$latest" "$BIN/train" $options --quiet "$@"; }
ranks() {
    count=$1
    shift
    timeout 60 mpirun -n "$count" "$latest" "$BIN/train" $options --threads 1 "$@"
}

# ---- the same bytes ----
one --threads 1 --max-updates 20 --output one 2>err
check "one process trains" test -s one/last.safetensors
for count in 2 4 5; do  # of 4, the last has no accumulator
    ranks $count --quiet --max-updates 20 --output "r$count" >out 2>err
    check "$count ranks train" test $? -eq 0 -a ! -s err -a ! -s out
    check "$count ranks leave the bytes of one process" cmp one/last.safetensors "r$count/last.safetensors"
done
check "the best model, too" cmp one/best.safetensors r4/best.safetensors
check "and the metrics" sh -c '
    for run in one r4; do
        sed "s/,\"tokens_per_second.*//; s/,\"seconds.*//" $run/metrics.jsonl >$run.lines
    done
    test -s one.lines && cmp one.lines r4.lines'
one --attention-score cosine --projections qk-shared --r-drop 2 --guide-alignment 0.1 --teacher one --weight-decay 0.1 --max-updates 10 --output rdrop 2>err
ranks 3 --quiet --attention-score cosine --projections qk-shared --r-drop 2 --guide-alignment 0.1 --teacher one --weight-decay 0.1 --max-updates 10 \
    --output rdrop3 >out 2>err
check "R-Drop, teachers, weight decay and shared projections: 3 ranks leave the bytes of one process" \
    cmp rdrop/last.safetensors rdrop3/last.safetensors
ranks 2 --threads 2 --max-updates 20 --output r2x2 >out 2>err
check "2 ranks of 2 threads leave them, too" cmp one/last.safetensors r2x2/last.safetensors
check "rank 0 tells the story, alone" sh -c \
    'test "$(grep -c "^run .* 2 ranks of 2 threads" err)" = 1 &&
     test "$(grep -c "^validation after update 20: loss" err)" = 1'

wide="--d-model 64 --ffn 128 --micro-tokens 300 --batch-tokens 1500 --max-updates 5"  # large products
(export QKV_KERNEL=openblas; one $wide --output blas 2>err; ranks 2 --quiet $wide --output blas2 >out 2>err)
check "with OpenBLAS, too" cmp blas/last.safetensors blas2/last.safetensors
check "which multiplied" grep -aq openblas blas2/last.safetensors

ranks 2 --quiet --accumulators 0 --max-updates 5 --output each2 >out 2>err
automatic=$(sed -n 's/.*"accumulators": *\([0-9]*\).*/\1/p' each2/config.json)
one --accumulators "$automatic" --max-updates 10 --output each 2>err
one --accumulators 0 --max-updates 10 --output each2 2>>err
check "2 ranks begin with an even number of accumulators" test $((automatic % 2)) = 0
check "and keep it" cmp each/last.safetensors each2/last.safetensors

ranks 2 --threads 3 --accumulators 4 --dry-run --output no 2>err
check "threads without an accumulator of their rank" \
    grep -q "^warning  *only 2 of 3 threads can work at a time: --accumulators 6 lets all work" err

# --init: only rank 0 reads the model, whose shape is not that of the preset.
tune="--init one --freeze encoder,embeddings --valid-every 5 --batch-tokens 200 --accumulators 5
    --warmup 5 --ema 0.9
    --train-source train.s --train-target train.t --valid-source valid.s --valid-target valid.t"
"$latest" "$BIN/train" $tune --threads 1 --quiet --max-updates 10 --output tuned 2>err
for updates in 5 10; do
    timeout 60 mpirun -n 2 "$latest" "$BIN/train" $tune --threads 1 --quiet --max-updates $updates --output tuned2 2>err
done
check "fine-tuned by 2 ranks, and resumed: the same bytes" cmp tuned/last.safetensors tuned2/last.safetensors

# ---- whole matrices: some lie in the parts of two or three ranks ----
muon="--optimizer muon --quiet --ffn 300 --weight-decay 0.1"
one $muon --threads 1 --max-updates 10 --output muon 2>err
for count in 2 4; do
    ranks $count $muon --max-updates 5 --output muon$count >out 2>err
    ranks $count $muon --max-updates 10 --threads 2 --output muon$count >out 2>err
    check "Muon: $count ranks leave the bytes of one process" cmp muon/last.safetensors muon$count/last.safetensors
done
check "its momentum has a name of its own" sh -c 'grep -q "\"momentum.model.shared.weight" muon/last.safetensors &&
    ! grep -q "\"adam.m" muon/last.safetensors'
mkdir older
LC_ALL=C sed 's/crc32/crcXX/g; s/"momentum[.]\([^"]*\)":{/"adam.m.\1"  :{/g' muon/last.safetensors >older/last.safetensors
for run in muon older; do one $muon --threads 1 --max-updates 15 --output $run 2>err; done
check "a run that was saved by an earlier version goes on" cmp muon/last.safetensors older/last.safetensors

# ---- going on ----
ranks 3 --quiet --max-updates 7 --output on 2>err
ranks 2 --quiet --max-updates 13 --output on 2>>err
one --threads 2 --max-updates 20 --output on 2>>err
check "begun by 3 ranks, gone on by 2, ended by one process: the same bytes" \
    cmp one/last.safetensors on/last.safetensors

# start OUTPUT: a run that is long enough to be stopped; returns when it has saved once.
start() {
    mpirun -n 2 "$latest" "$BIN/train" $options --threads 1 --max-updates 2000 --output "$1" >out 2>err &
    job=$!
    while [ ! -s "$1/last.safetensors" ] && kill -0 $job 2>/dev/null; do sleep 0.05; done
}
# The processes of the job that still run (a zombie does not).
gone() { ! ps -o stat=,args= -u "$(id -u)" | grep -v '^Z' | grep -q "[t]rain .*--output $1\$"; }
updates() { grep -a -o '\\"update\\":[0-9]*' "$1/last.safetensors" | head -n 1 | tr -dc 0-9; }

start signal
kill -USR1 $job
check "SIGUSR1 saves" await grep -q "saved after update" err
longer() { [ "$(updates signal)" -gt "$1" ]; }
check "and the run goes on" await longer "$(updates signal)"
kill -USR2 $job
wait $job
status=$?
check "SIGUSR2, which mpirun hands on, ends the run" test $status -eq 140
at=$(updates signal)
one --threads 1 --max-updates $((at + 5)) --output whole 2>err
ranks 3 --quiet --max-updates $((at + 5)) --output signal 2>err
check "stopped after update $at and gone on: the same bytes" \
    cmp whole/last.safetensors signal/last.safetensors

start killed
victim=$(ps -o pid=,args= --ppid $job | awk '/[t]rain/ { pid = $1 } END { print pid }')
kill -KILL "$victim"
wait $job
status=$?
check "a rank is killed: the job fails" test $status -ne 0
check "a rank is killed: none is left" await gone killed
at=$(updates killed)
one --threads 1 --max-updates $((at + 5)) --output whole-killed 2>err
ranks 2 --quiet --max-updates $((at + 5)) --output killed 2>err
check "a rank is killed: the same bytes from update $at on" \
    cmp whole-killed/last.safetensors killed/last.safetensors

# ---- what can be wrong ----
# refused NAME STATUS PATTERN COMMAND...: this status, and our sentence once.
refused() {
    name=$1 status=$2 pattern=$3
    shift 3
    "$@" >out 2>err
    got=$?
    if [ $got -ne "$status" ]; then fail "$name" "exit status $got, not $status: $(cat err)"
    elif [ "$(grep -c '^train: ' err)" -ne 1 ]; then fail "$name" "not one sentence: $(cat err)"
    elif ! grep -q "^train: .*$pattern" err; then fail "$name" "said: $(cat err)"
    else pass "$name"; fi
}
# mpirun gives the other ranks a second to end before it kills them: here all have ended.
export OMPI_MCA_odls_base_sigkill_timeout=0
# two OPTIONS: rank 0 with the options above, rank 1 with these.
two() {
    timeout 60 mpirun -n 1 "$latest" "$BIN/train" $options --output x : -n 1 "$latest" "$BIN/train" $1 --output x
}
other() { echo "$options" | sed "s/$1/$2/"; }

refused "an unknown option" 2 "unknown option" ranks 2 --lerning-rate 1
refused "more ranks than accumulators" 1 "3 ranks are more than the 2 acc.*--accumulators 3" \
    ranks 3 --accumulators 2 --output x
: >file
refused "rank 0 cannot write" 1 "file" ranks 2 --output file/run
refused "rank 1 cannot read" 1 "rank 1 on .*nowhere" two "$(other 'train[.]s' nowhere)"
sed 's/one/two/' train.s >more.s
refused "rank 1 has other text" 1 "rank 1 on .*those of rank 0" two "$(other 'train[.]s' more.s)"
refused "rank 1 has other options" 1 "rank 1 on .*those of rank 0" two "$(other 0.003 0.004)"
check "nothing was written" test ! -e x
