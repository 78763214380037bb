#!/bin/sh
# folder.sh -- the folder of a run belongs to one process, and what is in it is never lost because it
# cannot be read.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh

language 400 60
train() { "$BIN/train" $corpus $tiny --valid-every 100000 --quiet "$@"; }
updates() { grep -a -o '\\"update\\":[0-9]*' "$1/last.safetensors" | head -n 1 | tr -dc 0-9; }

# ---- one trainer ----
"$BIN/train" $corpus $tiny --valid-every 100000 --quiet --max-updates 1000000 --output one 2>first.err &
pid=$!
while [ ! -s one/metrics.jsonl ] && kill -0 $pid 2>/dev/null; do sleep 0.02; done
before=$(cksum one/config.json)
wrong "a second trainer is refused" 1 "^train: another training runs in 'one': wait until .* another --output" \
    train --max-updates 5 --output one
wrong "also by another name of the folder" 1 "another training runs in" train --max-updates 5 --output ./one/../one
check "a dry run is not" train --dry-run --max-updates 5 --output one
check "the first one still runs" kill -0 $pid
check "nothing is changed" test "$before" = "$(cksum one/config.json)"
kill -9 $pid
wait $pid 2>/dev/null
check "a killed trainer does not keep the folder" train --max-updates 5 --output one
# Both begin when the folder does not exist yet.
for run in 1 2; do
    (train --max-updates 40 --output both 2>both$run.err; echo $? >both$run.status) &
done
wait
check "of two that begin at once, one trains" test "$(sort both?.status | tr '\n' ' ')" = "0 1 "
check "the other says so in a sentence" sh -c 'test "$(cat both?.err | wc -l)" = 1 &&
    grep -q "^train: another training " both?.err'
train --max-updates 40 --output alone 2>err
check "the one is undisturbed" cmp alone/last.safetensors both/last.safetensors

# ---- a folder that is moved or removed ----
# begin DIR: a trainer in the background, which has saved; finish STATUS: stops it
begin() {
    "$BIN/train" $corpus $tiny --valid-every 100 --quiet --max-updates 1000000 --output $1 2>$1.err &
    pid=$!
    await test -s $1/best.safetensors
}
finish() {
    kill -TERM $pid
    wait $pid
    check "it ends with $1" test $? = $1
}
sum() { cat moved/* moved/.lock | cksum; }
begin moved
mv moved away
validations() { grep -c '"valid"' away/metrics.jsonl; }
first=$(validations)
check "another may begin where a folder was" train --max-updates 5 --output moved
before=$(sum)
await grep -q "warning: the folder 'moved' was moved: nothing is saved until it is back; " moved.err
more() { test "$(validations)" -gt $((first + 3)); }
await more
finish 1
check "a validation says so once" test "$(grep -c "was moved.*training goes on" moved.err)" -le $(($(validations) - first + 1))
check "and the end" test "$(tail -n 2 moved.err | grep -c "training goes on")" = 1
check "it leaves that one alone" test "$before" = "$(sum)"
begin metrics
await test -s metrics/metrics.jsonl
rm metrics/metrics.jsonl
await test -s metrics/metrics.jsonl
finish 143
check "metrics.jsonl that was removed is made again" sh -c 'head -n 1 metrics/metrics.jsonl | grep -q "\"update\":1," &&
    grep -q "metrics.jsonl. was removed or replaced: it is made again" metrics.err'
begin removed
until rm -rf removed; do :; done  # the trainer writes there
await test -s removed/best.safetensors
rm removed/.lock
await test -e removed/.lock
wrong "a removed folder is made again and locked" 1 "another training runs in" train --max-updates 5 --output removed
finish 143
check "with all that was in it" sh -c 'head -n 1 removed/metrics.jsonl | grep -q "\"update\":1," &&
    ls removed/last.safetensors removed/config.json removed/weights.tsv removed/loss.png &&
    test "$(tail -n 1 removed.err)" = "train: warning: '"'removed'"' or its .lock was removed: it is made again"'

# ---- what is not of this run ----
for file in config.json model.safetensors loss.png notes.txt; do
    mkdir theirs
    echo precious >theirs/$file
    wrong "$file of others" 1 "^train: 'theirs' has files that are not of a training: give --output an empty folder" \
        train --max-updates 5 --output theirs
    check "$file is all there is" test "$(ls -A theirs) $(cat theirs/*)" = "$file precious"
    rm -r theirs
done
cp -r alone bare
rm bare/last.safetensors
wrong "the best model alone" 1 "^train: 'bare/best.* is there and last.safetensors is not: .* another --output, .* (--init bare/best.safetensors)$" \
    train --max-updates 5 --output bare
check "stays" cmp alone/best.safetensors bare/best.safetensors

# ---- killed at each step (of which the first has made .lock), or without locks ----
if cc -shared -fPIC -D_GNU_SOURCE -o faults.so "$here/tests/fixtures/faults.c" -ldl && ! nm "$BIN/train" | grep -q -e __asan -e __tsan; then
    # fault NAME K DIR: trains; the K-th call fails, a rename by killing the program
    fault() {
        head -c 136 /dev/zero >count
        env FAULT=$1 FAULT_AT=$2 FAULT_COUNT=count FAULT_FORKS=1 LD_PRELOAD=./faults.so "$BIN/train" $corpus \
            $tiny --quiet --valid-every 10 --max-updates 20 --output $3 2>err
    }
    fault kill 0 whole
    # what faults.c counts as kill, its fifteenth function
    steps=$(od -An -td8 -j112 -N8 count | tr -d ' ') wrong=
    for step in $(seq 1 "$steps"); do
        fault kill $step killed
        [ $? = 137 ] && fault kill 0 killed && cmp whole/last.safetensors killed/last.safetensors &&
            cmp whole/best.safetensors killed/best.safetensors && cmp whole/weights.tsv killed/weights.tsv &&
            [ "$(grep -c '"valid"' killed/metrics.jsonl)" = 2 ] || wrong="$wrong $step"
        rm -rf killed
    done
    check "killed at each of $steps steps, it goes on to the same bytes:$wrong" test -z "$wrong" -a "$steps" -gt 5
    fault lock 1 nolock
    check "a folder that cannot be locked is said" sh -c 'test $0 = 0 &&
        grep -q "^train: warning: cannot lock .nolock/.lock.: No locks available; a second training " err' $?
else
    echo "skipped being killed: needs cc, and a build without sanitizers"
fi

# ---- a history that cannot be read ----
watched="--watch one"
train $watched --max-updates 20 --output run 2>err
for file in metrics.jsonl watch.jsonl weights.tsv; do
    cp -r run broken
    rm broken/$file
    mkdir broken/$file
    : >broken/$file/mine
    wrong "$file is a folder" 1 "^train: cannot read '.*broken/$file': it is a folder, not a file" \
        train $watched --max-updates 30 --output broken
    rm -r broken/$file
    ln -s gone/$file broken/$file
    wrong "$file is on a disk that is gone" 1 "broken/$file': it is a link to a file that is missing" \
        train $watched --max-updates 30 --output broken
    check "the link to $file stays" test -h broken/$file
    rm broken/$file
    check "no $file is no history" train $watched --max-updates 30 --output broken
    rm -r broken
    if [ "$(id -u)" != 0 ]; then
        cp -r run broken
        chmod 0 broken/$file
        wrong "$file may not be read" 1 "broken/$file': Permission denied" \
            train $watched --max-updates 30 --output broken
        chmod 600 broken/$file
        check "$file is as it was" cmp run/$file broken/$file
        rm -r broken
    fi
done
cp -r run torn
printf '{"type":"frame","says":"\303' >>torn/watch.jsonl
printf '{"type":"train","upd\303' >>torn/metrics.jsonl
train $watched --no-quiet --max-updates 30 --output torn 2>err
check "a line that is not of a training is said" grep -q "^warning .*torn/metrics.jsonl has lines that are not of a training (1)" err
train $watched --max-updates 30 --output run 2>err
check "a line that was cut off is left out" sh -c '
    cmp run/watch.jsonl torn/watch.jsonl && test "$(grep -c . run/metrics.jsonl)" = "$(grep -c . torn/metrics.jsonl)"'
sed -i 3p torn/weights.tsv
check "frames of weights.tsv that no run records" train $watched --max-updates 40 --output torn
check "are left out" test "$(sed 1d torn/weights.tsv | cut -f 1 | tr '\n' ' ')" = "0 10 40 "

mkdir broken
ln -s gone/lock broken/.lock
wrong ".lock is on a disk that is gone" 1 "^train: cannot open '.*broken/.lock': it is a link to a file that is missing" \
    train --max-updates 5 --output broken
rm -r broken
ln -s gone/folder dangling
wrong "so is the folder" 1 "^train: cannot open 'dangling': it is a link to a file that is missing" \
    train --max-updates 5 --output dangling
mkdir broken
: >broken/.lock
: >broken/last.safetensors.tmp-0123abcd
check "a run that was killed before it saved" train --max-updates 5 --output broken
check "leaves nothing" test ! -e broken/last.safetensors.tmp-0123abcd
rm -r broken
for file in metrics.jsonl config.json .lock; do
    cp -r run broken
    rm broken/$file
    mkfifo broken/$file
    wrong "$file is a pipe" 1 "^train: cannot .* '.*broken/$file': it is a .*pipe.*, not a file$" \
        timeout 30 "$BIN/train" $corpus $tiny --valid-every 100000 --quiet $watched --max-updates 35 --output broken
    rm -r broken
done

# ---- links and leftovers ----
for file in last best; do
    mkdir disk
    cp -r run linked
    mv linked/$file.safetensors disk/
    ln -s ../disk/$file.safetensors linked/
    check "$file.safetensors on another disk" train $watched --max-updates 35 --output linked
    check "stays a link" test -h linked/$file.safetensors
    mv disk away
    wrong "its disk is not mounted: $file" 1 \
        "^train: cannot open 'linked/$file.safetensors': it is a link to a file that is missing" \
        train $watched --max-updates 40 --output linked
    check "the link to $file stays" test -h linked/$file.safetensors
    rm -r linked away
done
echo precious >mine
cp -r run hard
for file in last.safetensors config.json metrics.jsonl weights.tsv watch.jsonl; do ln -s ../mine hard/$file.tmp; done
check "links that are named as temporary files" train $watched --max-updates 40 --output hard
check "are not followed" test "$(cat mine)" = precious -a "$(updates hard)" = 40
check "and stay" test -h hard/last.safetensors.tmp -a -h hard/config.json.tmp
