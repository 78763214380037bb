#!/bin/sh
# options.sh -- short options, and names of older versions in saved files.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh

language 300 40
train() { "$BIN/train" $corpus $tiny "$@"; }
translate() { "$BIN/translate" "$@"; }

# ---- short options ----
for program in train translate; do
    "$BIN/$program" -h >short 2>err
    check "$program -h succeeds" test $? -eq 0 -a ! -s err
    check "$program -h has 15 to 25 lines" sh -c 'test "$(wc -l <short)" -ge 15 && test "$(wc -l <short)" -le 25'
    check "$program -h has no line beyond 96 columns" sh -c '! LC_ALL=C.UTF-8 grep -E "^.{97}" short'
    check "$program -h names a dozen options" sh -c \
        'n=$(grep -cE "^  (-., )?--" short) && test "$n" -ge 10 && test "$n" -le 17'
    check "$program -h has two examples" sh -c 'test "$(sed -n "/^Examples/,\$p" short | grep -c "^  ./'$program'")" = 2'
    check "all options are in --help" sh -c "
        '$BIN/$program' --help >long && grep -oE -e '--[a-z][a-z0-9-]*' short | sort -u >names &&
        while read -r name; do grep -q -e \"\$name\" long || exit 1; done <names"
    check "$program --help has a section for experts, behind all others" sh -c \
        'grep -nE "^(Expert|The [a-z]+|Training|Translating|Searching|Which attention)\$" long | tail -n 1 | grep -q Expert'
    check "$program -v is --version" sh -c "'$BIN/$program' -v >v && '$BIN/$program' --version | cmp - v"
    wrong "$program -x" 2 "unknown option '-x'" "$BIN/$program" -x
done
for name in micro-tokens accumulators beta1 beta2 epsilon; do
    check "--$name is for experts" sh -c "'$BIN/train' --help | sed -n '/^Expert/,/^\$/p' | grep -q -e '--$name '"
done
train -q --max-updates 12 --output run >out 2>err
check "train -q is quiet" test $? -eq 0 -a ! -s out -a ! -s err
translate -q --model run --reference valid.t <valid.s >out 2>err
check "translate -q is --quiet" test $? -eq 0

# ---- names of older versions ----
check "config.json has the names of today" sh -c \
    'grep -q "\"fold_case\": false" run/config.json && grep -q "\"attention_score\": \"scaled-dot\"" run/config.json &&
     ! grep -qE "\"(lowercase|score)\"" run/config.json'
sed 's/"fold_case"/"lowercase"/; s/"attention_score"/"score"/' run/config.json >older.json
check "the older configuration differs" sh -c '! cmp -s run/config.json older.json'
check "it starts the same run" sh -c "
    '$BIN/train' --config older.json --output same --quiet && cmp run/last.safetensors same/last.safetensors"
sed 's/"lowercase": false/"lowercase": true/' older.json >folding.json
wrong "another value of theirs is refused" 2 "'data.lowercase' is no longer supported" "$BIN/train" --config folding.json

# A checkpoint of an older version, made from one of today: the text keeps its length, and the
# header loses its checksum.
mkdir older
LC_ALL=C sed 's/\\"fold_case\\":/\\"lowercase\\":/; s/\\"attention_score\\":/\\"score\\":          /
    s/"crc32.header"/"older.header"/' \
    run/last.safetensors >older/last.safetensors
check "the older checkpoint differs" sh -c '! cmp -s run/last.safetensors older/last.safetensors'
check "it translates" sh -c "
    '$BIN/translate' -q --model run/last.safetensors <valid.s >new.out &&
    '$BIN/translate' -q --model older <valid.s | cmp - new.out"
cp run/config.json run/metrics.jsonl older
check "its training can be resumed" sh -c "
    '$BIN/train' $corpus $(echo $tiny) -q --output older --max-updates 20 &&
    '$BIN/train' $corpus $(echo $tiny) -q --output run --max-updates 20 && cmp run/last.safetensors older/last.safetensors"

check "no option's help goes on from that of another" sh -c '! "$0" --help | grep -E "^  --[^ ]+ [A-Z]* +and "' "$BIN/translate"
