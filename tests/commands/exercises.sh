#!/bin/sh
# exercises.sh -- make exercise: every file is made, is wrong as it is, and right with the original's
# body.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh

if [ "${BUILD:-build}" != build ] || ! [ -e "$here/build/double.a" ] || ! command -v cc >/dev/null; then
    echo "skipped exercises: they need a compiler and the default build"
    exit 0
fi
# A copy, so that nobody's exercises are touched; its objects are those of the build.
mkdir copy && (cd "$here" && cp -a Makefile scripts base kernels model training data inference scores plots explain commands \
    manual library benchmark tests docs ./*.c "$scratch/copy") && cd copy || exit 1
exercise() { make -s BUILD="$here/build" exercise E="$1" >../out 2>&1; }
for e in 1 2 3 4 5 6; do
    exercise $e
    check "exercise $e is made" sh -c 'test $0 -eq 0 && grep -q "^made exercises/$1.c: write the body of " ../out' $? $e
    exercise $e
    check "and wrong: a tensor and an entry are named" sh -c 'test $0 -ne 0 &&
        grep -q "[a-zA-Z]\[[0-9]*\] is [^ ]*, should be " ../out && grep -q "^wrong: see exercises/$1.c" ../out' $? $e
    case $e in 1 | 3) from=model/attention.c ;; 2) from=model/layernorm.c ;; 4) from=model/embedding.c ;;
    5) from=model/loss.c ;; 6) from=training/optimizer.c ;; esac
    check "it differs from $from in a body" sh -c '! diff "$0" exercises/$1.c >../diff && ! grep "^> [^ ]" ../diff' $from $e
    cp $from exercises/$e.c
    exercise $e
    check "the original is right" sh -c 'test $0 -eq 0 && grep -q "^right: " ../out' $?
done
check "no such exercise" sh -c '! scripts/exercise 7 2>../out && grep -q "from 1 to 6" ../out'
rm -rf "$here"/build/exercises "$here"/build/double/exercises
