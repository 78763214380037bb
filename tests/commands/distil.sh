#!/bin/sh
# distil.sh -- scripts/distil: teachers, translations, student; what was done is not done again.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh

language 300 40
printf %s "$(cat train.s)" >source  # without the end of its last line
gzip -n <train.t >"in two words"
mv valid.s "valid s"
distil() {
    BIN=$BIN THREADS=1 "$here/scripts/distil" --time 16s --output made --source source --target "in two words" \
        --valid-source "valid s" --valid-target valid.t "$@"
}
# This language's sentences are the others backwards, in capitals: what matters is that each stage has its files.
check "it ends well" distil
cp check.err said
for model in teacher-1 teacher-2 teacher-3 reverse student; do
    check "$model is a model" test -s made/$model/best.safetensors
done
for name in teacher-1 teacher-2 teacher-3 "the teachers together" student; do
    check "the scores of $name" grep -Eq "^[0-9:]+ $name: BLEU [0-9.]+ chrF2 [0-9.]+" said
done
check "five times the text" test "$(wc -l <made/text/all.source)" = 1500 -a "$(wc -l <made/text/all.target)" = 1500
check "translated" test "$(sed -n 301p made/text/all.source)" != "$(sed -n 1p train.s)"
check "teachers differ" sh -c '! cmp -s made/teacher-1/best.safetensors made/teacher-2/best.safetensors'
check "one vocabulary" sh -c '
    "$0/translate" --model made/student --export student && cmp student/target.spm made/vocabulary/target.spm' "$BIN"
cksum made/*/best.safetensors >before
rm made/text/sample.target
check "again: only what is missing" distil
check "is done" sh -c 'cksum made/*/best.safetensors | cmp - before && test -s made/text/sample.target'
check "nothing is trained" sh -c '! grep -q trains check.err'
wrong "without a time" 2 "^distil: give --time, such as 6h" "$here/scripts/distil" --output made --source train.s \
    --target train.t --valid-source valid.s --valid-target valid.t
wrong "without files" 2 "^distil: give --time, such as 6h" "$here/scripts/distil" --time 5m --output made
wrong "a strange time" 2 "^distil: give --time" distil --time soon
