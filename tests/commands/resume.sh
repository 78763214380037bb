#!/bin/sh
# resume.sh -- ./train leaves the same bytes whatever the number of threads, and if it is stopped or
# killed and resumed.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh

language 400 60
tiny="$tiny --micro-tokens 60 --valid-every 10 --augment 0.5 --both-directions 1"
train() { "$latest" "$BIN/train" $corpus $tiny "$@"; }

# ---- the same bits ----
drop="--dropout 0.2 --attention-dropout 0.1 --activation-dropout 0.1 --max-updates 26 --quiet"
for threads in 1 2 3; do train $drop --threads $threads --output "t$threads" 2>err; done
check "2 threads leave the same bytes as 1" cmp t1/last.safetensors t2/last.safetensors
check "3 threads leave the same bytes as 1" cmp t1/last.safetensors t3/last.safetensors
check "the best model, too" cmp t1/best.safetensors t3/best.safetensors

# Update 23 is in the middle of the line of updates 21 to 25: going on completes it.
train $drop --threads 2 --max-updates 23 --output parts 2>err
train $drop --threads 1 --output parts 2>err
check "a line of metrics goes on where the run stopped" sh -c '
    for run in t1 parts; do
        grep "\"train\"" $run/metrics.jsonl | sed "s/,\"tokens_per_second.*//" >$run.lines
    done
    test "$(wc -l <t1.lines)" = 21 && cmp t1.lines parts.lines'

# Other options than before are said, and what they do to the learning rate.
train $drop --threads 2 --max-updates 28 --schedule cosine --output parts 2>err
check "no word of it if it is quiet" test ! -s err
"$latest" "$BIN/train" $corpus $tiny --max-updates 29 --dropout 0.3 --output parts >out 2>err
check "which options are others" grep -Eq \
    "^changed +from here on: --max-updates --schedule --dropout( --[a-z-]+)*; learning rate [0-9.e-]+, before 0" err
train $drop --max-updates 30 --accumulators 7 --no-quiet --output parts 2>err
check "also the number of accumulators" grep -q "^changed  *from here on:.* --accumulators" err

# Stopped by a signal as soon as there are metrics; then the same command goes on.
long="$drop --max-updates 600 --valid-every 200"
train $long --output whole 2>err
for signal in INT TERM; do
    case $signal in INT) expected=130 ;; TERM) expected=143 ;; esac
    setsid env --default-signal "$latest" "$BIN/train" $corpus $tiny $long --output "stop$signal" 2>err &
    pid=$!
    while [ ! -s "stop$signal/metrics.jsonl" ] && kill -0 $pid 2>/dev/null; do sleep 0.02; done
    kill -$signal $pid
    wait $pid
    status=$?
    if [ $status -eq $expected ]; then pass "SIG$signal ends with $expected"
    else fail "SIG$signal ends with $expected" "status $status: $(cat err)"; fi
    check "SIG$signal leaves a checkpoint" test -s "stop$signal/last.safetensors"
    check "the same command goes on after SIG$signal" train $long --threads 3 --output "stop$signal"
    check "stopped by SIG$signal and gone on: the same bytes" \
        cmp whole/last.safetensors "stop$signal/last.safetensors"
done
check "the metrics of a stopped run are those of a whole one" sh -c '
    for run in whole stopINT; do
        sed "s/,\"tokens_per_second.*//; s/,\"seconds.*//" $run/metrics.jsonl >$run.lines
    done
    cmp whole.lines stopINT.lines'

# Until version 1.0, all threads could share one accumulator.
cp -r t1 shared
LC_ALL=C sed -i 's/\(accumulators\\": *\)[0-9]/\11/; s/crc32[.]header/crc32.absent/' shared/last.safetensors
check "a run with one accumulator goes on with several" train $drop --max-updates 30 --threads 2 --output shared
check "it remembers them" sh -c 'grep -q "accumulators.: *[2-9]" shared/config.json'
wrong "no new run has one" 2 "accumulators takes 0, or a number from 2 on" train --accumulators 1 --output one

# ---- changed pairs ----
train $drop --augment 0 --output plain 2>err
check "changed pairs make another model" sh -c '! cmp -s t1/last.safetensors plain/last.safetensors'
train $drop --augment 0 --max-updates 13 --output begins 2>err
train $drop --no-quiet --output begins 2>said
check "a run can begin to change pairs" sh -c '! cmp -s begins/last.safetensors plain/last.safetensors'
check "it is said that there are no placeholders" grep -q "^augmented .*50 %.*without placeholders" said
train $drop --augment 0 --max-updates 13 --output older 2>err
LC_ALL=C sed -i 's/\\"augment\\": 0,/               /; s/crc32[.]header/crc32.absent/' older/last.safetensors
check "a run of an earlier version goes on" train $drop --output older
check "and changes no pairs" sh -c '
    cmp plain/last.safetensors older/last.safetensors && grep -q "augment.: 0," older/config.json'
check "the vocabulary has placeholders" grep -aq "<ph8>" t1/last.safetensors
check "or none" sh -c '! grep -aq "<ph8>" plain/last.safetensors'

# ---- another text, another order ----
base="$drop --valid-every 500 --max-updates 40"
train $base --output begun 2>err
# What there is to do where last.safetensors was cut off.
cp -r begun cut
for bytes in 9000 7; do
    truncate -s $bytes cut/last.safetensors
    wrong "$bytes bytes are left" 1 "without a copy of it the run cannot go on; a new one .* (--init cut/best.safetensors)" \
        "$latest" "$BIN/train" --config begun/config.json --output cut
done
updates=$(grep -a -o '\\"update_in_epoch\\":[0-9]*' begun/last.safetensors | tr -dc 0-9)
check "the run is in the middle of an epoch" test "${updates:-0}" -gt 2
# on OPTION...: goes on with a copy of the run for ten updates.
on() {
    rm -rf on
    cp -r begun on
    "$latest" "$BIN/train" $corpus $tiny $drop --valid-every 500 --max-updates 50 --no-quiet --output on "$@" 2>said
}
epoch() { grep -a -o '\\"epoch\\":[0-9]*' $1/last.safetensors | tr -dc 0-9; }
in_epoch() { grep -a -o '\\"update_in_epoch\\":[0-9]*' $1/last.safetensors | tr -dc 0-9; }
anew="start a new one with another --output, which can begin with this model (--init on)"
another() {
    name=$1
    shift
    cp -r begun on
    wrong "$name" 1 "^train: the run in 'on/last.safetensors' has another .*$anew" \
        "$latest" "$BIN/train" $tiny $drop --max-updates 50 --output on --valid-source valid.s \
        --valid-target valid.t "$@"
    check "$name: nothing is changed" cmp begun/last.safetensors on/last.safetensors
    rm -r on
}
head -n 60 train.s >short.s
head -n 60 train.t >short.t
sed '7s/^[a-z]*/ten/' train.s >other.s
another "a shorter text is refused" --train-source short.s --train-target short.t
another "one other word is refused" --train-source other.s --train-target train.t
another "source and target swapped is refused" --train-source train.t --train-target train.s
another "--dry-run refuses another text, too" --train-source other.s --train-target train.t --dry-run
cp -r begun on
wrong "another validation text is refused" 1 "^train: the run in 'on/last.*' has another validation text: $anew" \
    "$latest" "$BIN/train" $tiny $drop --output on --train-source train.s --train-target train.t --valid-source short.s \
    --valid-target short.t
wrong "another vocabulary is refused" 1 "started with another --tokenizer-model: start a new one" \
    train $drop --output on --tokenizer-model valid.s
rm -r on
for change in "--seed 7" "--batch-tokens 2000" "--batch-tokens 100"; do
    check "$change is taken" on $change
    check "$change is said" grep -q "^new epoch .* changed: ${change% *}$" said
    begins=$(($(epoch begun) + 1))
    check "$change begins a new epoch" test "$(epoch on)" -gt "$begins" -o "$(in_epoch on)" = 10
done
check "the same options say nothing of an epoch" sh -c '"$0" "$@" 2>said && ! grep -q "^new epoch\|^warning.*record" said' \
    "$latest" "$BIN/train" $corpus $tiny $drop --no-quiet --valid-every 500 --max-updates 41 --output begun

# Held-out pairs are chosen by the seed, so another seed is another training text.
held="--train-source train.s --train-target train.t $tiny --quiet"
"$latest" "$BIN/train" $held --max-updates 5 --output held 2>err
wrong "another seed that holds out other pairs" 1 "another training text (--seed holds out other pairs): start" \
    "$latest" "$BIN/train" $held --max-updates 10 --seed 7 --output held
check "the same seed goes on" "$latest" "$BIN/train" $held --max-updates 10 --output held

# edit RUN FROM TO: changes the progress of a checkpoint, whose checksums then no longer count.
edit() { LC_ALL=C sed -i "s/crc32/crcXX/g; s/\\(\\\\\"\\)$2/\\1$3/" "$1/last.safetensors"; }
rm -rf on
cp -r begun on
edit on 'corpus' 'carpus'
"$latest" "$BIN/train" $corpus $tiny $drop --no-quiet --max-updates 50 --output on 2>said
check "a checkpoint of an earlier version goes on" test $? = 0
check "with a warning" grep -q "^warning .*does not record its training text" said
cp -r begun older
edit older 'corpus' 'carpus'
"$latest" "$BIN/train" $tiny $drop --no-quiet --max-updates 50 --output older --train-source short.s \
    --train-target short.t --valid-source valid.s --valid-target valid.t 2>said
check "also with a shorter text" test $? = 0
check "which is said" grep -q "^new epoch .* a shorter text" said
