#!/bin/sh
# limits.sh -- both programs where address space, open files, threads or disk run out: each run ends, and what
# is wrong is said.
#
# With LIMITS=all it tries every limit of address space from 20 to 2000 MB, in steps of 2 to 20 MB,
# which takes some minutes.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh

if nm "$BIN/train" | grep -q -e __asan -e __tsan; then
    echo "skipped limits: the sanitizers reserve all address space"
    exit 0
fi
toy=$here/data/toy/model.safetensors
language 60 10
tiny=$("$latest" echo $tiny --valid-every 2 --max-updates 2 --quiet | sed 's/--threads 1//')

# ---- address space ----
# limited KB COMMAND...: ended with 0, or with 1 and one sentence; or could not be loaded. Prints
# "loaded" or "not loaded".
limited() {
    limit=$1
    shift
    (ulimit -c 0; ulimit -v "$limit"; exec timeout -s KILL 60 "$@" >out 2>err </dev/null)
    status=$?
    case $status in
    0 | 1) ;;
    127) grep -q "error while loading shared libraries" err && return ;;
    esac
    runs=$((runs + 1))
    [ $status -ne 0 ] || good=$((good + 1))
    last=$(tail -n 1 err)
    case $status:$last in
    0:* | 1:train:* | 1:translate:*) return ;;
    *) wrong="$wrong $limit KB: status $status ($last);" ;;
    esac
}
limits="40000 70000 75000 77000 79000 80000 90000 120000 200000 400000 800000 1600000"
[ "${LIMITS:-}" != all ] || limits="$(seq 20000 1000 100000) $(seq 102000 4000 400000) $(seq 420000 20000 2000000)"
for threads in 1 4; do
    runs=0 good=0 wrong=
    for limit in $limits; do
        rm -rf run
        limited "$limit" "$BIN/train" $corpus $tiny --threads $threads --output run
    done
    check "./train --threads $threads ends under each of $runs limits ($good times well)" test -z "$wrong" -a $good -gt 0 -a $good -lt $runs
    [ -z "$wrong" ] || echo "$wrong"
    runs=0 good=0 wrong=
    for limit in $limits; do
        limited "$limit" "$BIN/translate" --model "$toy" --quiet --threads $threads "jane visits africa"
    done
    check "./translate --threads $threads ends under each of $runs limits ($good times well)" test -z "$wrong" -a $good -gt 0
    [ -z "$wrong" ] || echo "$wrong"
done
# OpenBLAS waits for ever where it finds no memory for a product (kernels/openblas.h).
runs=0 good=0 wrong=
for limit in 79000 120000 200000 400000 500000 600000 700000 1600000; do
    rm -rf run
    limited "$limit" env QKV_KERNEL=openblas "$latest" "$BIN/train" $corpus $tiny --d-model 64 --ffn 128 --micro-tokens 300 --threads 4 --output run
done
check "with OpenBLAS, too ($good of $runs times well)" test -z "$wrong" -a $good -gt 0 -a $good -lt $runs
[ -z "$wrong" ] || echo "$wrong"

"$BIN/train" $corpus $tiny --threads 1 --output first 2>err || cat err
for stack in 2048 8192 unlimited; do
    (ulimit -s $stack; ulimit -v 1000000; "$latest" "$BIN/train" $corpus $tiny --threads 8 --max-updates 3 --output first 2>err)
    check "8 threads in 1 GB of addresses, with a stack of $stack KB" sh -c 'test $0 -eq 0 && ! test -s err || { cat err >&2; false; }' $?
done
yes "jane visits africa." | head -n 1000 | tr '\n' ' ' >long
(ulimit -v 250000; "$BIN/translate" --model "$toy" --threads 1 --beam 1 --quiet --json --align <long >out 2>err)
check "a thousand sentences in a line have one attention at a time in memory" sh -c 'test $0 -eq 0 && ! test -s err' $?
(ulimit -s 1024; "$BIN/translate" --version >out 2>err)
check "too small a stack: a sentence" sh -c 'test $0 -eq 1 && grep -qx "translate: the stack is too small: .*" err' $?

# ---- open files ----
for files in 8 11 64; do
    rm -rf run
    (ulimit -n $files; "$BIN/train" $corpus $tiny --threads 1 --output run) 2>err
    echo $? >status
    (ulimit -n $files; "$BIN/translate" --model "$toy" --quiet --attention out.pdf "jane visits africa") >out 2>>err
    echo $? >>status
    if [ $files = 64 ]; then check "64 open files are enough" sh -c 'test "$(echo $(cat status))" = "0 0" && test ! -s err && test -s run/loss.png'
    else check "$files open files are too few: a sentence" sh -c 'test "$(echo $(cat status))" = "1 1" && test ! -e run -a ! -s out &&
        test "$(grep -cx "[a-z]*: too few files may be open: allow at least [0-9]* (ulimit -n)" err)" = 2'; fi
done

# ---- threads ----
mkdir open && cp "$BIN/train" "$BIN/translate" "$BIN/serve" "$toy" train.? valid.? open 2>/dev/null
chmod -R a+rwX "$scratch"
alone() { (cd open && timeout 60 prlimit --nproc=1 setpriv --reuid 65534 --regid 65534 --clear-groups "$@" >../out 2>../err); }
if alone ./translate --version; then
    alone ./translate --model model.safetensors --threads 1 --quiet "jane visits africa"
    check "no threads but the first: ./translate --threads 1" test $? -eq 0 -a -s out
    alone ./translate --model model.safetensors --threads 4 --quiet "jane visits africa"
    check "with more: a sentence" sh -c 'test $0 -eq 1 && grep -q "^translate: cannot start thread 2 of 4: " err' $?
    alone ./train $corpus $tiny --threads 1 --output run
    check "a tokenizer: a sentence" sh -c 'test $0 -eq 1 && grep -q "^train: cannot learn\|^train: cannot start a thread to learn a tokenizer: .*ulimit -u" err' $?
    alone ./serve --model en-fr=model.safetensors --port 0
    check "./serve: a sentence" sh -c 'test $0 -eq 1 && grep -q "^serve: cannot start a thread: .*ulimit -u" err' $?
else
    echo "skipped a limit of threads: needs prlimit, setpriv and root"
fi

# ---- a full disk ----
mkdir small
cat >full.sh <<'END'
mount -t tmpfs -o size=$1k tmpfs small || exit 77
shift
cp -r first small/run && "$@" >out 2>err
status=$?
rm -rf left && cp -r small/run left
exit $status
END
size=$(du -sk first | cut -f1)
for more in 1 8 40; do
    unshare -m sh full.sh $((size + more)) "$latest" "$BIN/train" $corpus $tiny --threads 1 --max-updates 4 --output small/run
    status=$?
    if [ $status -eq 77 ] || ! [ -d left ]; then
        echo "skipped a full disk: cannot mount one"
        break
    fi
    check "a disk with $more KB left: status 1 and a sentence, or 0" sh -c 'test $0 -eq 0 || test $0 -eq 1 && tail -n 1 err | grep -q "^train: .*No space left"' $status
    check "and both checkpoints can be read" sh -c 'for f in last best; do "$0/translate" --model left/$f.safetensors --list-vocabulary >out || exit 1; done' "$BIN"
    check "nothing half is left" sh -c '! ls left | grep tmp'
done
