#!/bin/sh
# python.sh -- libqkv.so and library/qkv.py with the system's Python: what the library shows and needs, what
# qkv.py answers and refuses (python.py), and where it finds the library.
cd "$(dirname "$0")/../.." || exit 1
build=$(cd "${BUILD:-build}" && pwd)
. tests/fixtures/checks.sh

soname=$(readelf -d "$build/libqkv.so" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
check "its SONAME has the major version" test "$soname" = "libqkv.so.$("$BIN/translate" --version | sed 's/qkv \([0-9]*\).*/\1/')"
check "it shows what the header promises, and nothing else" sh -c \
    'grep -o "qkv_[a-z_]*(" "$1" | tr -d "(" | sort -u >promised
     nm -D --defined-only "$2" | sed "s/.* //" | sort | cmp - promised' sh "$here/library/qkv.h" "$build/libqkv.so"
check "no code is relocated when it is loaded" sh -c '! readelf -d "$1" | grep TEXTREL' sh "$build/libqkv.so"
check "it needs no library for pictures or training" sh -c \
    '! readelf -d "$1" | grep -E "NEEDED.*(pango|cairo|png|mpi|edit)"' sh "$build/libqkv.so"

python=$(command -v /usr/bin/python3 || command -v python3)
if nm -D "$build/libqkv.so" | grep -qE '__(asan|tsan)_init|__gcov' || [ -z "$python" ]; then
    echo "skipped qkv.py: no python3, or a library that Python cannot load (sanitizers)"
    exit
fi
check "qkv.py has at most 235 lines" test "$(wc -l <"$here/library/qkv.py")" -le 235
model=$here/data/toy/model.safetensors
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$here/library QKV_LIBRARY=$build/libqkv.so
export PYTHONDONTWRITEBYTECODE PYTHONPATH QKV_LIBRARY
"$python" "$here/tests/library/python.py" "$model" || failures=$((failures + 1))
"$python" "$here/library/example.py" "$model" "jane visits africa in september" "the red car" >example
check "its example translates" sh -c 'grep -c "" example | grep -qx 9 && grep -q "^▁visite	▁visits	" example'
mkdir without && echo 'raise ImportError' >without/numpy.py
PYTHONPATH=$here/library:without "$python" "$here/tests/library/python.py" "$model" >lists ||
    { grep "^not ok" lists; failures=$((failures + 1)); }
check "it runs without numpy, too" grep -q "^ok python: numpy's arrays" lists

# finds FOLDER: whether FOLDER/qkv.py finds a library without QKV_LIBRARY.
finds() { PYTHONPATH=$1 env -u QKV_LIBRARY "$python" -c 'import qkv; print(qkv.version)' >version 2>err; }
mkdir -p usr/share/qkv usr/lib beside && cp "$here/library/qkv.py" usr/share/qkv && cp "$here/library/qkv.py" beside
cp "$build/$soname" usr/lib && cp "$build/$soname" beside
check "it finds a library beside it" finds "$scratch/beside"
check "and that of its installation" finds "$scratch/usr/share/qkv"
rm beside/libqkv.so*
check "else it says what to set" sh -c 'test "$1" = 0 || grep -q "^ImportError: libqkv.so.* set QKV_LIBRARY" err' sh \
    "$(finds "$scratch/beside"; echo $?)"
check "QKV_LIBRARY comes first" sh -c '! QKV_LIBRARY=/no/such.so PYTHONPATH="$1" "$2" -c "import qkv" 2>err && grep -q /no/such.so err' \
    sh "$scratch/usr/share/qkv" "$python"
