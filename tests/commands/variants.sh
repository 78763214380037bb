#!/bin/sh
# variants.sh -- ./translate --score with models as others publish them, of random weights, in every variant
# of the format, against tests/fixtures/marian-reader.py (numpy, float64, from the paper).
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh
/usr/bin/python3 -c 'import numpy' 2>/dev/null || { echo "skipped variants: python3-numpy is missing"; exit; }

fixture() { file=$1; shift; /usr/bin/python3 "$here/tests/fixtures/$file.py" "$@"; }
paste "$here/data/toy/test.en" "$here/data/toy/test.fr" | grep -v "['.,?!-]" | head -n 15 >pairs
sed 's/^/>>spa<< /' pairs >tagged
# same FILE: FILE and got have the same 15 numbers, within 1e-4
same() { paste "$1" got | awk '{ d = $1 - $2; if (d < 0) d = -d; if (!(d <= 1e-4)) exit 1 } END { if (NR != 15) exit 1 }'; }
for variant in $(fixture marian-folders variants); do
    case $variant in tags) text=tagged ;; *) text=pairs ;; esac
    fixture marian-folders "$variant" "$here/data/toy/model.safetensors" "$variant" &&
        fixture marian-reader "$variant" <$text >"expected.$variant" || fail "$variant" "cannot be made and read"
    check "$variant: translate --score" eval '"$BIN/translate" --model $variant --score <$text >got'
    check "$variant: the same ln p as the reader, within 1e-4" same "expected.$variant"
done
# The positions are the same whether they are stored or not, and so are two of the published configurations.
rm expected.positions expected.no-key-for-positions expected.opus-mt-en-fr
check "no two variants give the same" sh -c 'test -z "$(for f in expected.*; do head -n 1 $f; done | sort | uniq -d)"'
# The toy, as Marian stores it, imported: the same model, to the printed digits.
toy=$here/data/toy/model.safetensors
paste "$here/data/toy/test.en" "$here/data/toy/test.fr" | head -n 100 >text
check "the toy comes back from Marian's format" eval 'fixture marian-folders marian "$toy" marian &&
    "$here/scripts/import" marian imported && "$BIN/translate" --model "$toy" --score <text >expected &&
    "$BIN/translate" --model imported --score <text >got && test "$(wc -l <got)" -eq 100'
check "with the same scores" cmp expected got
check "and the same translations" eval 'cut -f 1 text | "$BIN/translate" --model "$toy" >expected &&
    cut -f 1 text | "$BIN/translate" --model imported >got && test "$(wc -l <got)" -eq 100 && cmp expected got'
fixture marian-folders published >sizes
check "a published model has 298 MB, as its documentation says" sh -c \
    'test "$(awk "/opus-mt-en-de/ { print int(\$3 / 1e6 + 0.5) }" sizes)" = 298'
