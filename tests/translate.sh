#!/bin/sh
# translate.sh -- ./translate as a decoder: scoring, searching, sampling, and as a filter.
set -u
cd "$(dirname "$0")/.." || exit 1
BIN=$(cd "${BIN:-.}" && pwd)
. tests/shell/checks.sh
cd "$room" || exit 1

# near NAME A B LIMIT: two numbers are that close.
near() { awk -v a="$2" -v b="$3" -v limit="$4" 'BEGIN { exit !(a != "" && b != "" && (a - b) ^ 2 < limit ^ 2) }' &&
    pass "$1" || fail "$1" "$2 is not $3"; }
# wrong NAME STATUS PATTERN COMMAND...: one sentence with the pattern, and this status.
wrong() {
    name=$1 status=$2 pattern=$3
    shift 3
    "$@" >out 2>err </dev/null
    got=$?
    if [ $got -ne "$status" ]; then fail "$name" "exit status $got, not $status: $(cat err)"
    elif [ "$(wc -l <err)" -ne 1 ] || ! grep -q "$pattern" err; then fail "$name" "said: $(cat err)"
    else pass "$name"; fi
}

language 400 60
tiny="--tokenizer word --vocab-size 60 --d-model 16 --heads 2 --ffn 32 --encoder-layers 1
      --decoder-layers 1 --max-length 20 --batch-tokens 300 --valid-every 60 --warmup 20
      --learning-rate 0.01 --schedule inverse-sqrt --quiet"
corpus="--train-source train.s --train-target train.t --valid-source valid.s --valid-target valid.t"
"$BIN/train" $corpus $tiny --max-updates 120 --output run 2>err || fail "a model to translate with" "$(cat err)"
translate() { "$BIN/translate" --model run "$@"; }

# ---- scoring ----
paste valid.s valid.t >valid.tsv
translate --score <valid.tsv >scores 2>err
check "--score gives a line a pair" sh -c 'test "$(grep -c "^-[0-9.]*$" scores)" = 60'
check "and the perplexity at the end" grep -q "^perplexity [0-9.]* (loss [0-9.]* nats a token) of 60 pairs" err
translate --score --target valid.t <valid.s 2>err | cmp -s - scores
check "--target is the second column" test $? -eq 0
translate --score --json --threads 2 <valid.tsv >json 2>err
near "the loss of the last validation" "$(sed -n 's/.*"loss":\([0-9.]*\).*/\1/p' json)" \
    "$(grep '"valid"' run/metrics.jsonl | tail -n 1 | sed 's/.*"loss":\([0-9.]*\).*/\1/')" 1e-5
near "a pair is the sum of its tokens" "$(head -n 1 scores)" "$(head -n 1 json |
    sed 's/.*"log_probabilities":\[\(.*\)\]}/\1/' | awk -F, '{ for (i = 1; i <= NF; i++) s += $i; print s }')" 1e-4
check "an object a line, its tokens as they are cut" sh -c \
    'test "$(wc -l <json)" = 61 && head -n 1 json | grep -q "^{\"line\":1,.*\"tokens\":\[.*\"</s>\"\],"'
long="one two three four five six seven eight nine ten one two three four five six seven eight nine ten"
printf 'one\tONE\n%s\tONE\none\tONE\n' "$long" >long.tsv
translate --score <long.tsv >out 2>err
check "a pair that is too long is not counted" sh -c \
    'test "$(sed -n 2p out)" = nan && grep -q "line 2 has 20 tokens" err && grep -q "of 2 pairs" err'
wrong "a pair without a TAB" 1 "line 1 has no TAB" translate --score "one two"
wrong "fewer targets than sources" 1 "only 60 lines" sh -c \
    "cat valid.s valid.s | '$BIN/translate' --model run --score --target valid.t"
wrong "more targets than sources" 1 "more lines than the 0 sources" translate --score --target valid.t
wrong "--target without --score" 2 "goes with --score" translate --target valid.t one
wrong "--score with --reference" 2 "does not go with" translate --score --reference valid.t one

[ $failures -eq 0 ]
