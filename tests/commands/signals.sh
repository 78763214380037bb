#!/bin/sh
# signals.sh -- signals that stop a run, save it, or were ignored when it was started; readers that go
# away; standard streams that are closed.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh
if ! env --default-signal=INT true 2>/dev/null; then
    echo "skipped signals: env has no --default-signal"
    exit 0
fi

language 400 60
train="$BIN/train $corpus $tiny --valid-every 100000 --dropout 0.1"
updates() { grep -a -o '\\"update\\":[0-9]*' "$1/last.safetensors" | head -n 1 | tr -dc 0-9; }
lines() { wc -l <"$1/metrics.jsonl"; }
# start OUTPUT COMMAND...: returns when the run has metrics.
start() {
    output=$1
    shift
    "$@" --output "$output" --max-updates 1000000 2>said &
    pid=$!
    while [ ! -s "$output/metrics.jsonl" ] && kill -0 $pid 2>/dev/null; do sleep 0.02; done
}
# grows RUN: it trains on.
longer() { [ "$(lines "$1")" -gt "$2" ]; }
grows() { await longer "$1" "$(lines "$1")"; }

# ---- saving ----
start usr env --default-signal $train
kill -USR1 $pid
await grep -q "saved after" said
first=$(updates usr)
check "SIGUSR1 saves" test "${first:-0}" -gt 0
check "SIGUSR1 is answered" grep -q "saved after update $first\$" said
check "and training goes on" grows usr
kill -HUP $pid
kill -HUP $pid
wait $pid
check "SIGHUP, sent twice, saves and ends with 129" test $? = 129
at=$(updates usr)
check "it has saved more" test "$at" -gt "$first"
$train --quiet --max-updates $((at + 3)) --output usr 2>err
$train --quiet --max-updates $((at + 3)) --output whole 2>err
check "saved by SIGUSR1, stopped by SIGHUP, and gone on: the same bytes" \
    cmp whole/last.safetensors usr/last.safetensors

# The training text comes from a pipe, so that the run waits for it when the signal comes. Under
# ThreadSanitizer, signal() lets a signal end read().
if ! nm "$BIN/train" | grep -q __tsan; then
    mkfifo slow.s
    env --default-signal $(echo "$train" | sed 's/train[.]s/slow.s/') --max-updates 5 --output early 2>said &
    pid=$!
    exec 3>slow.s
    kill -USR1 $pid
    cat train.s >&3
    exec 3>&-
    wait $pid
    check "SIGUSR1 while the corpus is read does not end the run" test $? = 0
    check "and saves" grep -q "saved after update [01]\$" said
fi

# ---- waiting for input ----
mkfifo nobody silent
exec 3<>silent
# ends SIGNAL WHAT COMMAND...: it waits for ever, and ends at the first signal.
ends() {
    signal=$1 what=$2
    shift 2
    env --default-signal timeout -s KILL 60 "$@" <&3 >out 2>err &
    pid=$!
    sleep 0.3
    kill -$signal $pid
    wait $pid
    got=$?
    check "SIG$signal while it waits for $what" test $got:$signal = 130:INT -o $got:$signal = 143:TERM
    check "without a word" test ! -s err
}
quiet="$BIN/translate --quiet --threads 1"
toy="$quiet --model $here/data/toy/model.safetensors"
for signal in INT TERM; do ends $signal "a line" $toy; done
ends INT "a translation" $toy --score --target nobody one
ends TERM "links" $toy --align --target train.t --gold nobody one
ends INT "a reference" $quiet --hypothesis train.t --reference nobody
ends TERM "numbers" $quiet --by-hand nobody
ends INT "a corpus" "$BIN/train" $tiny --train-source nobody --train-target train.t --output waits
ends TERM "its configuration" "$BIN/train" --config - --output waits
exec 3>&-

# ---- ignored from the beginning ----
for signal in HUP INT; do
    start "ignored$signal" env --default-signal --ignore-signal=$signal $train
    kill -$signal $pid
    check "an ignored SIG$signal stays ignored" grows "ignored$signal"
    kill -TERM $pid
    wait $pid
    check "SIGTERM ends it" test $? = 143 -a -s "ignored$signal/last.safetensors"
done
wrong "why the child that learns the vocabulary failed, if SIGCHLD is ignored" 1 "is too small: every character" \
    env --ignore-signal=CHLD "$latest" "$BIN/train" $corpus $tiny --tokenizer bpe --vocab-size 10 --output small --quiet
yes 'one two' | head -n 20000 >many
start prompt env --default-signal $train --quiet
kill -TERM $pid
wait $pid

# ---- nobody reads ----
# The reader of standard error leaves after its first line.
(env --default-signal $train --max-updates 60 --output pipe 2>&1; echo $? >status) | head -n 1 >said
check "training goes on without a reader" test "$(cat status)" = 0
check "and ends with a message that nobody reads" test -s said -a "$(updates pipe)" = 60
$train --max-updates 60 --output closed 2>&-
check "standard error is closed: it trains" test "$(updates closed)" = 60
$train --quiet --max-updates 60 --output plain 2>err
check "and no message is in a file" sh -c '
    for file in last.safetensors config.json; do cmp plain/$file closed/$file || exit 1; done;
    ! grep -l "^training \|^validation " closed/*'
for given in "" --ignore-signal=PIPE; do
    (env --default-signal $given "$BIN/translate" --model prompt/last.safetensors --beam 1 --quiet <many 2>err; echo $? >status) |
        head -n 1 >said
    check "./translate ends quietly when its reader has gone $given" test "$(cat status)" = 141 -a ! -s err -a -s said
done
(env --default-signal "$BIN/translate" --model prompt/last.safetensors --beam 1 nowordofit 2>&1 >out; echo $? >status) | true
check "it goes on without a reader of its news" test "$(cat status)" = 0 -a -s out
"$BIN/translate" --model prompt/last.safetensors one >&- 2>err
check "a closed standard output is an error" test $? = 1 -a -s err
