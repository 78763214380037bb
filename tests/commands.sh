#!/bin/sh
# commands.sh -- ./train and ./translate as people and scripts use them: what they print, how they
# end, what they leave behind, and one sentence for everything that can be wrong.
set -u
cd "$(dirname "$0")/.." || exit 1
BIN=$(cd "${BIN:-.}" && pwd)
here=$PWD
room=$(mktemp -d) || exit 1
trap 'rm -rf "$room"' EXIT
cd "$room" || exit 1
failures=0

pass() { echo "ok $1"; }
fail() {
    echo "not ok $1: $2"
    failures=$((failures + 1))
}
# check NAME COMMAND...: the command succeeds.
check() {
    name=$1
    shift
    if "$@" >out 2>err; then pass "$name"; else fail "$name" "$(tail -n 3 err)"; fi
}
# wrong NAME STATUS PATTERN COMMAND...: one sentence with the pattern, this status, no output.
wrong() {
    name=$1 status=$2 pattern=$3
    shift 3
    "$@" >out 2>err
    got=$?
    if [ $got -ne "$status" ]; then fail "$name" "exit status $got, not $status: $(cat err)"
    elif [ -s out ]; then fail "$name" "standard output is not empty"
    elif ! grep -v '^reading ' err | grep -q "$pattern"; then fail "$name" "said: $(cat err)"
    elif [ "$(grep -vc '^reading ' err)" -ne 1 ]; then fail "$name" "not one sentence: $(cat err)"
    else pass "$name"; fi
}

# A language for the tests: the translation is the sentence backwards, in capitals.
awk 'BEGIN {
    srand(5); split("one two three four five six seven eight nine ten", word, " ")
    for (i = 0; i < 460; i++) {
        n = 2 + int(rand() * 5); source = target = ""
        for (k = 0; k < n; k++) {
            w = word[1 + int(rand() * 10)]
            source = source (k ? " " : "") w; target = toupper(w) (k ? " " : "") target
        }
        print source >(i < 400 ? "train.s" : "valid.s")
        print target >(i < 400 ? "train.t" : "valid.t")
    }
}'
gzip -k train.s
printf 'one two\nthree\n' >two.s
printf 'TWO ONE\n' >one.t

tiny="--tokenizer word --vocab-size 60 --d-model 16 --heads 2 --ffn 32 --encoder-layers 1
      --decoder-layers 1 --max-length 20 --batch-tokens 300 --micro-tokens 60 --valid-every 10
      --log-every 5 --warmup 5 --learning-rate 0.01 --schedule inverse-sqrt"
corpus="--train-source train.s.gz --train-target train.t --valid-source valid.s --valid-target valid.t"
train() { "$BIN/train" $corpus $tiny "$@"; }
translate() { "$BIN/translate" "$@"; }

# ---- a run ----
check "train runs" train --max-updates 20 --output run
for file in last.safetensors best.safetensors metrics.jsonl config.json loss.png attention.png; do
    check "train leaves $file" test -s "run/$file"
done
check "metrics are one object a line" sh -c \
    'test "$(grep -c "^{\"type\":\"train\",\"update\":.*}$" run/metrics.jsonl)" = 4 &&
     test "$(grep -c "^{\"type\":\"valid\",\"update\":.*}$" run/metrics.jsonl)" = 2'
check "no temporary file is left" sh -c 'test -z "$(ls run | grep -i tmp)"'
check "training prints nothing to standard output" sh -c 'test ! -s out'
check "--quiet is quiet" train --quiet --max-updates 3 --output quiet
check "--quiet printed nothing" test ! -s err
check "config.json starts the same run" sh -c \
    "'$BIN/train' --config run/config.json --output same --quiet &&
     cmp run/last.safetensors same/last.safetensors"
check "--dry-run" train --dry-run --output dry
check "--dry-run writes nothing" test ! -e dry
check "a finished run is done" train --max-updates 20 --output run

# ---- the same bits ----
for threads in 1 2 3; do
    train --threads $threads --max-updates 12 --output "t$threads" --quiet \
        --dropout 0.2 --attention-dropout 0.1 --activation-dropout 0.1
done
check "2 threads, the same bits as 1" cmp t1/last.safetensors t2/last.safetensors 2>/dev/null ||
    true
