#!/bin/sh
# saving.sh -- ./train when files cannot be written: a picture is a warning, a failed save is tried
# again, and the exit status tells in the end.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh

language 400 60
tiny="$tiny --tokenizer char --max-length 60 --threads 2 --micro-tokens 60 --valid-every 10 --max-updates 30"
train() { "$latest" "$BIN/train" $corpus $tiny --quiet "$@"; }
# said COUNT PATTERN: standard error has so many lines with the pattern, and no others.
said() { test "$(grep -c -- "$2" err)" -eq "$1" -a "$(wc -l <err)" -eq "$1"; }

train --watch "one two" --output whole 2>err || cat err

# ---- killed between the last save and the pictures ----
mkdir drawn && mv whole/*.png drawn
for file in last.safetensors loss.png watch.jsonl; do echo half >whole/$file.tmp-0123abcd; done; echo mine >whole/notes.tmp-0123abcd
: >whole/attention.png && touch -d 2000-01-01 whole/attention.png
train --watch "one two" --output whole 2>err
check "the same command draws what is missing or old" sh -c '
    for picture in attention loss weights watch; do cmp drawn/$picture.png whole/$picture.png || exit 1; done'
check "and nothing half of its own is left" test "$(ls whole | grep tmp)" = notes.tmp-0123abcd

# ---- pictures ----
for picture in attention loss; do
    rm -rf blocked
    for name in $picture weights watch; do mkdir -p "blocked/$name.png"; done
    : >blocked/.lock
    train --watch "one two" --output blocked 2>err
    check "pictures that cannot be written do not fail the run" test $? -eq 0
    check "$picture.png: said at once and at the end" sh -c "
        grep -q \"warning: .*$picture.png': Is a directory; training goes on\$\" err &&
        grep -q \"warning: .*$picture.png': Is a directory\$\" err"
done
check "watch.png and weights.png, drawn at the end: once" sh -c \
    'test "$(grep -c "w[ae][^/]*\.png.: Is a directory$" err)" = 2'
for file in last best; do
    cp "blocked/$file.safetensors" . && cp "whole/$file.safetensors" other.safetensors
    for f in "$file" other; do sed 's/blocked/whole/' "$f.safetensors" >"$f.bytes"; done
    check "and $file.safetensors is complete" test "$(wc -c <$file.safetensors)" -gt 10000
done

# A library that calls abort, as GLib does when memory or threads run out.
cat >abort.c <<'END'
#include <stdlib.h>
void *pango_layout_new(void *context) { abort(); return context; }
END
if cc -shared -fPIC -o abort.so abort.c 2>/dev/null && ! nm "$BIN/train" | grep -q -e __asan -e __tsan; then
    LD_PRELOAD=$scratch/abort.so train --output aborted --no-quiet 2>err
    check "an abort while drawing does not end the run" test $? -eq 0
    check "it is said" grep -q "warning: drawing loss.png was ended by signal 6 (Aborted): is there enough memory?; " err
    check "the end names no picture" grep -qx "written to aborted: best.safetensors (the model)" err
    check "the model is that of a run with pictures" sh -c '
        for run in whole aborted; do
            tail -c 20000 $run/best.safetensors >$run.weights
        done
        test -s whole.weights && cmp whole.weights aborted.weights'
else
    echo "skipped an abort while drawing: needs cc, and a build without sanitizers"
fi

# ---- saves ----
size=$(($(wc -c <whole/last.safetensors) / 512))
limited() { (ulimit -f $((size - 2)) && train "$@" 2>err); }
limited --output limited
check "a save over the limit of files fails the run, without a signal" test $? -eq 1
check "said at each validation and at the end" sh -c '
    test "$(grep -c "last.safetensors.: File too large; training goes on$" err)" = 3 &&
    test "$(grep -c "^train: cannot write .*last.safetensors.: File too large$" err)" = 1'
check "best.safetensors, which is smaller, is there" test -s limited/best.safetensors
check "nothing half is left" sh -c '! ls limited | grep -e tmp -e last'
check "./translate reads it" sh -c '"$0/translate" --model limited "one two" 2>err' "$BIN"

(ulimit -f 8 && train --normalization nmt_nfkc --output unlearned 2>err)
check "a limit that is too small for the tokenizer is named" grep -q "cannot learn a tokenizer: .*File too large" err

# The disk is full after the first validation, and has space later.
if command -v prlimit >/dev/null; then
    # shellcheck disable=SC2086
    "$latest" "$BIN/train" $corpus $tiny --quiet --max-updates 120 --valid-every 5 --watch "one two" --output later 2>err &
    pid=$!
    until [ -s later/loss.png ] || ! kill -0 $pid 2>/dev/null; do sleep 0.01; done
    prlimit --pid $pid --fsize=1000:
    while ! grep -q "last.*training goes on" err && kill -0 $pid 2>/dev/null; do sleep 0.01; done
    prlimit --pid $pid --fsize=unlimited
    wait $pid
    check "a save that succeeds later ends well" test $? -eq 0
    check "with the checkpoint" test -s later/last.safetensors
    check "and a warning" grep -q "warning: cannot write .*last.safetensors': File too large; " err
    check "no line of metrics is lost" test \
        "$(grep -c '^{"type":"train".*}$' later/metrics.jsonl) $(grep -c '^{"type":"valid".*}$' later/metrics.jsonl)" = "40 24"
else
    echo "skipped a save that succeeds later: prlimit is missing"
fi

train --max-updates 10 --output best 2>err
rm best/best.safetensors && mkdir best/best.safetensors
train --output best 2>err
check "a best model that cannot be saved fails the run" test $? -eq 1
check "which can go on" sh -c 'rmdir best/best.safetensors; test -s best/last.safetensors'
train --output best 2>err
check "the same command validates again and saves it" test $? -eq 0 -a -s best/best.safetensors

(ulimit -f 4 && "$BIN/translate" --model whole --save-int8 small.safetensors 2>err)
check "./translate --save-int8 over the limit: one sentence" sh -c \
    'test $? -eq 0 && grep -q "^translate: cannot write .small.safetensors.: File too large$" err'

# ---- best.safetensors is to be given away: it does not say where its corpus was ----
mkdir -p secret/place && cp train.s train.t valid.s valid.t secret/place
at=$scratch/secret/place
"$latest" "$BIN/train" --train-source "$at/train.s" --train-target "$at/train.t" --valid-source "$at/valid.s" --valid-target "$at/valid.t" \
    $tiny --max-updates 2 --quiet --output given
check "best.safetensors names its corpus" grep -qa 'train.s' given/best.safetensors
check "but no folder" sh -c '! grep -qa secret given/best.safetensors'
check "last.safetensors has the path" grep -qa "$at/train.s" given/last.safetensors
"$BIN/translate" --model given --save-int8 given.int8 2>err
check "nor does an int8 model" sh -c '! grep -qa secret given.int8'
