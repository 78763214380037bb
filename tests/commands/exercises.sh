#!/bin/sh
# exercises.sh -- make exercise: every file is made and is wrong as it is, with a solution right, and with a
# mistake that one easily makes wrong again, named in the words of docs/exercises.md.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh

if [ "${BUILD:-build}" != build ] || ! [ -e "$here/build/reference/transformer" ] || ! command -v cc >/dev/null; then
    echo "skipped exercises: they need a compiler and the default build"
    exit 0
fi
mkdir copy && (cd "$here" && cp -R --parents Makefile scripts reference tests/reference "$scratch/copy") && cd copy || exit 1
export CFLAGS=-O0 BUILD=$scratch/build
exercise() { scripts/exercise "$1" >../out 2>&1; }
# mistake N OLD NEW PATTERN: with OLD replaced in the function's body, it is wrong and says PATTERN.
mistake() {
    awk -v start="^static .* $function[(]" -v old="$2" -v new="$3" '
        $0 ~ start { body = 1 }
        body && (at = index($0, old)) { $0 = substr($0, 1, at - 1) new substr($0, at + length(old)) }
        /^}/ { body = 0 }
        { print }' reference/transformer.c >exercises/$1.c
    ! cmp -s reference/transformer.c exercises/$1.c || fail "mistake in $1" "there is no '$2'"
    exercise $1
    check "exercise $1 with a mistake: $4" sh -c 'test $0 -ne 0 && grep -q -e "$1" ../out && grep -q "^wrong: " ../out' $? "$4"
}
e=0
while IFS='|' read -r function plain old new said; do
    e=$((e + 1))
    exercise $e
    check "exercise $e is made" sh -c 'test $0 -eq 0 && grep -q "^made exercises/$1.c: write the body of $2, in line [0-9]*, " ../out' \
        $? $e $function
    check "it differs in a body" sh -c '! diff reference/transformer.c "$0" >../diff && ! grep "^> [^ ]" ../diff' exercises/$e.c
    exercise $e
    check "and is wrong: a number is named" sh -c 'test $0 -ne 0 && grep -q "^$1: .* is .*, should be " ../out &&
        grep -q "^wrong: see exercises/$2.c" ../out' $? "$plain" $e
    cp reference/transformer.c exercises/$e.c
    exercise $e
    check "the solution is right" sh -c 'test $0 -eq 0 && grep -q "^right: " ../out && ! grep -q wrong ../out' $?
    mistake $e "$old" "$new" "$said"
    cp reference/transformer.c exercises/$e.c
done <<'END'
linear_backward|one row, one output|w.db.at[j] +=|w.db.at[j] =|^3 rows, 4 inputs, 2 outputs: db
softmax_backward|2 scores|- sum||^2 scores: dz
head_backward|1 query, 2 keys, heads of width 1|add_nn(dQ, scale|add_nn(dQ, 1|^3 queries, 4 keys, heads of width 2: dQ
addnorm_backward|one row, g = 1|row(dX, n)[k] +=|row(dX, n)[k] =|^other g, and gradients that are not 0 before: dX
embedding_backward|one word|scale *||^one word: dE
crossentropy_backward|one row of 2 classes, scale 1|+= scale|= scale|^a gradient that is not 0 before (add to it): dZ
adam_update|the first update|unbias_v * v|v|^the first update: w
END
check "make exercise" sh -c 'make exercise E=1 | grep -q "^right: exercise 1"'
check "no such exercise" sh -c '! scripts/exercise 8 2>../out && grep -q "from 1 to 7" ../out'
