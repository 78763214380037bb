#!/bin/sh
# faults.sh -- both programs when a call of the system or of the C library fails
# (tests/fixtures/faults.c): each run ends with status 0 and the right results, or with 1 and a
# sentence; the checkpoint that was there before, or the new one, is there and whole.
#
# Of each function in each scenario the first call fails, in another run the second, and so on. If
# there are more than 6 calls, 3 of them fail, spread over all; with FAULTS=all 400 of them, and
# pictures in all formats. SCENARIOS and FAULT_NAMES choose some scenarios and functions.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh

if nm "$BIN/train" | grep -q -e __asan -e __tsan ||
    ! cc -shared -fPIC -D_GNU_SOURCE -o "$scratch/faults.so" "$here/tests/fixtures/faults.c" -ldl; then
    echo "skipped faults: needs cc, and a build without sanitizers"
    exit 0
fi
# A library that waits for ever, here for what no process writes to a pipe: the end says what came of it.
mkfifo fonts.conf
(FONTCONFIG_FILE="$PWD/fonts.conf" timeout 100 "$BIN/translate" --model "$here/data/toy/model.safetensors" \
    --attention waits.png jane >waits.out 2>waits.err; echo $? >waits.status) &

most=6 spread=3 formats=
[ "${FAULTS:-}" != all ] || most=400 spread=400 formats="svg pdf"
language 60 10
tiny=$("$latest" echo $tiny --d-model 8 --ffn 8 --valid-every 1 \
    --max-updates 2 --threads 1 --quiet)
printf 'jane visits africa in september\nthe cat sleeps\n' >text
# Without attention.png the network runs the same.
reference() { "$latest" "$BIN/train" $corpus $tiny "$@" 2>err || cat err; }
reference --max-updates 1 --output before
cp -r before after && reference --output after
weights() { tail -c 4000 "$1"; }

# ---- what is attacked: SCENARIO prepares, runs "$@" COMMAND, and judges ----
# run COMMAND...: the command with the fault in it; $status
run() {
    timeout -s KILL 120 env FAULT="$fault" FAULT_AT="$at" FAULT_COUNT=count FAULT_FORKS="$forks" \
        LD_PRELOAD=./faults.so "$@" >out 2>err <text
    status=$?
}
whole() { cmp -s "$1" "$2" || "$BIN/translate" --model "$1" --list-vocabulary >vocabulary 2>&1; }

train() {
    run "$BIN/train" $corpus $tiny --output run
    for f in last best; do
        [ ! -e run/$f.safetensors ] || whole run/$f.safetensors before/$f.safetensors ||
            why="$why $f.safetensors is not whole;"
        [ -e run/$f.safetensors ] || [ $status -ne 0 -a ! -e before.$1 ] || why="$why no $f.safetensors;"
    done
    [ $status -ne 0 ] || weights run/last.safetensors | cmp -s - after.weights || why="$why other weights;"
    [ "$1" = drawing ] || ! ls run 2>/dev/null | grep -q tmp || why="$why a temporary file is left;"
}
fresh() { rm -rf run && forks=1 && train fresh; }
resumed() { rm -rf run && cp -r before run && forks=0 && train resumed; }
drawing() { rm -rf run && cp -r before run && forks=9 && train drawing; }
: >before.resumed && : >before.drawing && weights after/last.safetensors >after.weights

# answers NAME COMMAND...: standard output, and the file NAME, are the right ones or status says otherwise.
answers() {
    name=$1
    shift
    rm -f "$name"
    run "$@"
    head -c "$(wc -c <out)" right/text | cmp -s - out || why="$why other translations;"
    case $fault in
    write | short | fsync | rename) same="cmp -s $name right/$name" ;;
    *) same="test -s $name" ;;  # a library may do without a file or a thread: other fonts
    esac
    [ $status -ne 0 ] || [ "$name" = out ] || $same || why="$why $name is wrong;"
    [ $status -ne 0 ] || [ "$name" != out ] || cmp -s out right/text || why="$why translations are missing;"
    rm -f ./*.tmp-*  # a picture's, if a library has ended its process
}
model=$here/data/toy/model.safetensors
translate() { answers out "$BIN/translate" --model "$model" --threads 1 --quiet; }
int8() { answers small "$BIN/translate" --model before --threads 1 --quiet --save-int8 small; }
picture() { answers "a.$1" "$BIN/translate" --model "$model" --threads 1 --quiet --attention "a.$1" "the cat sleeps"; }
png() { picture png; }
html() { picture html; }
svg() { picture svg; }
pdf() { picture pdf; }

# ---- the attack ----
export SOURCE_DATE_EPOCH=0
mkdir right
# The functions in the order of faults.c; folder.sh has lock and kill.
printf '%s\n' write short fsync rename open close read malloc calloc realloc mmap pthread_create fork lock kill abort >names
# try K: the scenario, in which call K fails, or none if K is 0.
try() {
    at=$1 why=
    head -c 136 /dev/zero >count
    "$scenario"
}
attack() {
    scenario=$1 injected=0 ended=0 table= wrong=
    fault=write forks=9
    : >right/text
    try 0 >/dev/null 2>&1
    cp out right/text
    for f in small a.*; do [ ! -e "$f" ] || cp "$f" right; done
    try 0
    [ $status -eq 0 -a -z "$why" ] || wrong="$wrong without a fault: status $status$why $(tail -n 1 err);"
    od -An -v -td8 -w8 count | paste -d ' ' names - >calls
    for fault in ${FAULT_NAMES:-$(grep -vx -e lock -e kill names)}; do
        calls=$(sed -n "s/^$fault  *//p" calls) tries=0 failed=0
        if [ "$calls" -le $most ]; then list=$(seq 1 "$calls")
        else list=$(seq 1 $(((calls - 1) / (spread - 1))) "$calls"); fi
        for call in $list; do
            try "$call"
            tries=$((tries + 1))
            [ $status -eq 0 ] || failed=$((failed + 1))
            case $status:$(tail -n 1 err) in
            0:* | [12]:train:\ * | [12]:translate:\ *) ;;
            *) why=" status $status ($(tail -n 1 err))$why" ;;
            esac
            [ -z "$why" ] || wrong="$wrong
    $fault $call, process $(od -An -td8 -j128 count | tr -d ' '):$why;"
        done
        injected=$((injected + tries)) ended=$((ended + failed)) table="$table $fault $tries/$calls"
    done
    check "$scenario: $injected faults, $ended ended it ($table )" test -z "$wrong"
    [ -z "$wrong" ] || echo "$wrong"
}
for scenario in ${SCENARIOS:-fresh resumed drawing translate int8 png html $formats}; do attack $scenario; done

wait
check "a picture for which a library waits for ever: a sentence" sh -c \
    'test "$(cat waits.status)" = 1 && grep -q "^translate: drawing waits.png was ended by a library" waits.err'
