#!/bin/sh
# backward.sh -- ./translate --backward: the way back through a head, in text and on the page.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh

language 60 6
# shellcheck disable=SC2086
"$BIN/train" $tiny $corpus --max-updates 12 --quiet --output run >out 2>&1
check "a model to explain" test -s run/last.safetensors
translate() { "$BIN/translate" --quiet --model "${model:-run}" "$@"; }

for kind in encoder decoder cross; do
    translate --explain --backward --attention-kind $kind --word 2 --given "TWO ONE" "one two" >out 2>err
    check "--backward goes back through $kind attention" grep -q '^The loss L was [0-9.]* before and is [0-9.]* after' out
    check "... step by step" test "$(grep -c '^([1-5]) d' out)" -eq 4
    check "... in lines without spaces at their ends" sh -c '! grep -q " $" out'
    check "... without NaN" sh -c '! grep -qi "nan\|inf " out'
done
check "a file without moments says so" grep -q 'update u = 1 of the training' out
model=run/last.safetensors translate --explain --backward "one two" >last
check "the moments of last.safetensors are used" grep -q 'update u = 13 of the training' last
translate --explain "one two" >plain
translate --explain --backward "one two" >back
check "--explain is the first part of it" sh -c 'head -n "$(wc -l <plain)" back | cmp - plain'
translate --explain --backward --given "THREE" "one two" >other
check "--given is the right answer" sh -c 'tr "\n" " " <other | grep -q "logits for each of the 2 tokens of"'

translate --backward --attention back.html "one two" >out
translate --attention plain.html "one two" >out
check "the page has gradients" grep -q '"dS":' back.html
check "... only if they are wanted" sh -c '! grep -q "\"dS\":" plain.html'

wrong "--backward alone" 2 "goes with --explain" translate --backward one
wrong "--backward and a picture" 2 "goes with --explain" translate --backward --attention out.png one
wrong "--backward --int8" 2 "as it was trained: leave out --int8" translate --explain --backward --int8 one
wrong "--backward --ablate" 2 "as it was trained" translate --explain --backward --ablate cross.1.1=zero one
translate --save-int8 small.safetensors >out 2>&1
model=small.safetensors
wrong "--backward of an int8 file" 1 "'small.safetensors' holds int8 weights, which have no gradients" \
    translate --explain --backward one
