#!/bin/sh
# library.sh -- the library as others have it: installed, found by pkg-config, in a program in C and in
# one in C++, and with no name in it but its own.
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
. tests/fixtures/checks.sh

MAKEFLAGS='' make -s -C "$here" BUILD="$build" BIN="$BIN" install PREFIX="$scratch/usr" >log 2>&1
PKG_CONFIG_PATH="$scratch/usr/lib/pkgconfig"
export PKG_CONFIG_PATH
flags=$(pkg-config --cflags --libs qkv)
check "pkg-config knows it" test -n "$flags"
check "its version is the programs'" sh -c 'echo "qkv $(pkg-config --modversion qkv)" | cmp - version' sh \
    "$("$BIN/translate" --version | cut -d, -f1 >version)"
for file in include/qkv.h lib/libqkv.a lib/libqkv.so share/qkv/qkv.py lib/pkgconfig/qkv.pc share/man/man3/qkv.3; do
    check "$file can be read by all" sh -c 'test -s "$1" && test "$(stat -Lc %a "$1")" = 644' sh "usr/$file"
done
check "libqkv.so is a link to the file that programs load" test "$(readlink usr/lib/libqkv.so)" = libqkv.so.1
LD_LIBRARY_PATH=$scratch/usr/lib
export LD_LIBRARY_PATH
# Of what C++ shares among programs (weak, unique), any may be seen.
check "all that it shows begins with qkv_" sh -c \
    'nm -g --defined-only usr/lib/libqkv.a | awk "NF == 3 && (\$2 !~ /[WVu]/ || \$3 ~ /^[a-z]/) { print \$3 }" | sort >shown &&
     test "$(grep -c "^qkv_" shown)" = "$(grep -c . shown)"'
check "and all that the header promises is there" sh -c \
    'grep -o "qkv_[a-z_]*(" usr/include/qkv.h | tr -d "(" | sort -u | cmp - shown'
check "and in the man page" sh -c \
    'for name in $(cat shown); do sed -n "/SYNOPSIS/,/DESCRIPTION/p" usr/share/man/man3/qkv.3 | grep -q "$name(" || exit 1; done'

nm usr/lib/libqkv.a | grep -q __asan_init && flags="$flags -fsanitize=address,undefined"
nm usr/lib/libqkv.a | grep -q __tsan_init && flags="$flags -fsanitize=thread"
cp "$here/library/example.c" .
warnings="-Wall -Wextra -Wstrict-prototypes -Werror"
# shellcheck disable=SC2086
check "the example compiles as its head says" ${CC:-cc} -std=c11 $warnings example.c -o example $flags
check "and has some thirty lines" test "$(sed '1,/\*\//d' example.c | grep -c .)" -le 32
check "it loads libqkv.so.1" sh -c 'readelf -d example | grep -q "NEEDED.*libqkv.so.1"'
# shellcheck disable=SC2086
check "it can contain the library" ${CC:-cc} -std=c11 example.c -o contains $(echo "$flags" | sed 's/-lqkv/-l:libqkv.a/')
check "and then does not load it" sh -c '! readelf -d contains | grep libqkv.so && ./contains nowhere x 2>&1 | grep -q "no model"'
printf '#include <qkv.h>\n#include <cstdio>\nint main() { std::puts(qkv_version()); }\n' >example.cc
# shellcheck disable=SC2086
check "a program in C++ does, too" ${CXX:-c++} -Wall -Wextra -Werror example.cc -o other $flags
check "and runs" sh -c 'echo "qkv $(./other)" | cmp - version'

language 300 20
"$BIN/train" --preset tiny --train-source train.s --train-target train.t --valid-source valid.s --valid-target valid.t \
    --tokenizer word --vocab-size 60 --d-model 16 --heads 2 --ffn 32 --encoder-layers 1 --decoder-layers 2 \
    --max-length 20 --batch-tokens 200 --warmup 20 --learning-rate 0.01 --augment 0 --max-updates 60 --output run --quiet
"$BIN/translate" --model run "ten four" "" "one two three" >expected
check "the example translates as ./translate does" sh -c \
    './example run "ten four" "" "one two three" >out && head -n 3 out | cmp - expected'
check "and says where each word looked" sh -c \
    'tail -n +4 out | awk -F "\t" "NF != 3 || \$3 < 0 || \$3 > 1 { bad = 1 } END { exit bad || NR < 2 || \$1 != \"</s>\" }"'
check "it says what is wrong" sh -c '! ./example nowhere x 2>err >out && test ! -s out && grep -q "^example: no model at .nowhere.$" err'
check "and what it takes" sh -c './example 2>err; test $? = 2 && grep -q ^usage: err'

MAKEFLAGS='' make -s -C "$here" BUILD="$build" BIN="$BIN" uninstall PREFIX="$scratch/usr" >log 2>&1
check "uninstalled, nothing of it is left" sh -c 'test -z "$(find usr ! -type d)"'
