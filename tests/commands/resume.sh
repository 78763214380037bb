#!/bin/sh
# resume.sh -- ./train leaves the same bytes whatever the number of threads, and if it is stopped or
# killed and resumed.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh

language 400 60
tiny="$tiny --micro-tokens 60 --valid-every 10 --log-every 5"
train() { "$BIN/train" $corpus $tiny "$@"; }

# ---- the same bits ----
drop="--dropout 0.2 --attention-dropout 0.1 --activation-dropout 0.1 --max-updates 24 --quiet"
for threads in 1 2 3; do train $drop --threads $threads --output "t$threads" 2>err; done
check "2 threads leave the same bytes as 1" cmp t1/last.safetensors t2/last.safetensors
check "3 threads leave the same bytes as 1" cmp t1/last.safetensors t3/last.safetensors
check "the best model, too" cmp t1/best.safetensors t3/best.safetensors

# Twelve updates are two lines of metrics and two updates of a third: going on completes it.
train $drop --threads 2 --max-updates 12 --output parts 2>err
train $drop --threads 1 --max-updates 24 --output parts 2>err
check "a line of metrics goes on where the run stopped" sh -c '
    for run in t1 parts; do
        grep "\"train\"" $run/metrics.jsonl | sed "s/,\"tokens_per_second.*//" >$run.lines
    done
    test -s t1.lines && cmp t1.lines parts.lines'

# Stopped by a signal as soon as there are metrics; then the same command goes on.
train $drop --max-updates 150 --output whole 2>err
for signal in INT TERM; do
    [ $signal = INT ] && expected=130 || expected=143
    setsid "$BIN/train" $corpus $tiny $drop --max-updates 150 --output "stop$signal" 2>err &
    pid=$!
    while [ ! -s "stop$signal/metrics.jsonl" ] && kill -0 $pid 2>/dev/null; do sleep 0.02; done
    kill -$signal $pid
    wait $pid
    status=$?
    if [ $status -eq $expected ]; then pass "SIG$signal ends with $expected"
    else fail "SIG$signal ends with $expected" "status $status: $(cat err)"; fi
    check "SIG$signal leaves a checkpoint" test -s "stop$signal/last.safetensors"
    check "the same command goes on after SIG$signal" train $drop --max-updates 150 --threads 3 \
        --output "stop$signal"
    check "stopped by SIG$signal and gone on: the same bytes" \
        cmp whole/last.safetensors "stop$signal/last.safetensors"
done
check "the metrics of a stopped run are those of a whole one" sh -c '
    for run in whole stopINT; do
        sed "s/,\"tokens_per_second.*//; s/,\"seconds.*//" $run/metrics.jsonl >$run.lines
    done
    cmp whole.lines stopINT.lines'

# Killed again and again: the files that are there are complete.
for round in 1 2 3 4; do
    "$BIN/train" $corpus $tiny $drop --max-updates 150 --output killed 2>err &
    pid=$!
    sleep "0.$round"
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
done
check "killed four times, it goes on" train $drop --max-updates 150 --output killed
check "killed four times: the same bytes" cmp whole/last.safetensors killed/last.safetensors
