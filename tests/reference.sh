#!/bin/sh
# reference.sh -- reference/transformer.c and this program compute the same: loss, every gradient,
# and the weights after an update, in float to 1e-5 and in double to 1e-9 (tests/fixtures/oracle.c
# says of what); and ./translate translates with what the reference has learned.
#
# Half of the pairs have a wrong translation: where a trained model is right, its gradients nearly
# cancel, and in float little of them is left. Doubles have one kind of kernels, whatever QKV_KERNEL says.
#
#   FULL=1    also the whole training of the toy corpus (scripts/check-all)
. tests/fixtures/checks.sh
export OPENBLAS_NUM_THREADS=1  # several would mostly wait for each other beside another test

BUILD=${BUILD:-build}
case $BUILD in /*) ;; *) BUILD=$here/$BUILD ;; esac
reference=$BUILD/reference/transformer
if ! [ -x "$reference" ]; then
    echo "skipped the reference: make reference has not been called"
    exit 0
fi
toy=$here/data/toy
{ sed -n 2,9p "$toy/test.fr"; sed -n 9,16p "$toy/test.fr"; } | paste "$toy/test.en" - | head -n 16 >pairs.tsv

# same NAME MODEL: both say the same of the pairs.
same() {
    "$reference" gradients "$2" pairs.tsv float.out >/dev/null &&
        "$BUILD/tests/fixtures/oracle" compare "$2" pairs.tsv float.out 1e-5 >said 2>&1
    [ $? -eq 0 ] && pass "$1, in float" || fail "$1, in float" "$(cat said)"
    "$BUILD/reference/double" gradients "$2" pairs.tsv double.out >/dev/null &&
        env -u QKV_KERNEL "$BUILD/double/tests/fixtures/oracle" compare "$2" pairs.tsv double.out 1e-9 >said 2>&1
    [ $? -eq 0 ] && pass "$1, in double" || fail "$1, in double" "$(cat said)"
}
same "the shipped model" "$toy/model.safetensors"
for seed in 0 1 2 3; do
    shape=$("$BUILD/tests/fixtures/oracle" make $seed "$toy/model.safetensors" $seed.safetensors)
    same "a new network of $shape" $seed.safetensors
done

# translations MODEL: ./translate and the reference make the same of 20 sentences of the test set. (One
# that does not end is cut at different places.)
translations() {
    head -n 20 "$toy/test.en" >source
    xargs -d '\n' "$reference" translate "$1" <source >theirs &&
        "$BIN/translate" --quiet --model "$1" --beam 1 <source | paste theirs - | awk -F '\t' '
            $1 != $2 && split($1, word, " ") < 15 { print; wrong = 1 } END { exit wrong || NR != 20 }' >&2
}
check "the same translations by the shipped model" translations "$toy/model.safetensors"
check "attention as a picture" sh -c '"$0" draw "$1" map.png "jane visits africa in september" >drawn &&
    test "$(od -An -j16 -N8 -tu1 map.png | tr -d " ")" = 00024000124' "$reference" "$toy/model.safetensors"
check "a token for each of its rows and columns" grep -qx "rows, from the top: *▁jane ▁visite ▁l'.* ▁afrique ▁en ▁septembre </s>" drawn
check "an unknown word is named" sh -c '"$0" translate "$1" "my Aunt sleeps" 2>&1 | grep -qx "transformer: .Aunt. is an unknown word"' \
    "$reference" "$toy/model.safetensors"
ln -s /dev/full full.png
wrong "a picture that cannot be written" 1 "^transformer: cannot write 'full.png'$" \
    "$reference" draw "$toy/model.safetensors" full.png "jane visits africa"
check "removes nothing" test -L full.png

# A short training: the network has learned something, and ./translate loads it.
learns() {
    (cd "$here" && "$1" train "$scratch/learned.safetensors") >learned 2>progress
}
exact() {
    awk -v least="$1" '/ of 500 test sentences/ { good = $1 >= least } END { exit !good }' learned
}
if [ "${FULL:-}" ]; then
    check "it trains" learns "$reference"
    check "and translates at least 98 % exactly" exact 490
    sed 's/^/    /' learned
else
    check "it trains for a moment" learns "$BUILD/reference/short"
fi
check "the same translations by what it has learned" translations learned.safetensors

# wrong_file NAME PATTERN FILE: refused with a sentence.
wrong_file() { wrong "$1" 1 "$2" "$reference" translate "$3" hello; }
head -c 1000 "$toy/model.safetensors" >cut.safetensors
wrong_file "a file that is cut" "no safetensors file" cut.safetensors
head -c 3000000 "$toy/model.safetensors" >cut.safetensors
wrong_file "a file whose end is cut" "incomplete: it ends before tensor" cut.safetensors
wrong_file "a file of another kind" "no safetensors file" "$toy/test.en"
wrong_file "no file" "cannot read" missing.safetensors
check "no command" sh -c '! "$0" 2>usage && grep -q "transformer train OUT" usage' "$reference"
