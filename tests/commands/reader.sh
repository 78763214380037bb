#!/bin/sh
# reader.sh -- ./translate --score against tests/fixtures/marian-reader.py, which computes the same network
# in numpy and float64, written from the paper. It reads the toy's network as scripts/import made it
# from Marian's names and layout. The sentences are without punctuation: each word is a piece.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh
/usr/bin/python3 -c 'import numpy' 2>/dev/null || { echo "skipped reader: python3-numpy is missing"; exit; }

toy=$here/data/toy/model.safetensors
fixture() { file=$1; shift; /usr/bin/python3 "$here/tests/fixtures/$file.py" "$@"; }
check "the toy's network, as Marian stores it" fixture marian-folders marian "$toy" marian
check "it is imported" "$here/scripts/import" marian imported
paste "$here/data/toy/test.en" "$here/data/toy/test.fr" | grep -v "['.,?!-]" | head -n 40 >pairs
awk -F '\t' -v OFS='\t' 'NR == 1 { first = $2 } { print } NR > 1 && NR < 9 { print $1, first }' pairs >both
check "the reader scores" eval 'fixture marian-reader imported <both >expected && test "$(wc -l <expected)" -eq 47'
check "./translate scores" eval '"$BIN/translate" --model "$toy" --score <both >got'
same() { paste "$1" got | awk '{ d = $1 - $2; if (d < 0) d = -d; if (d > worst) worst = d } END { exit !(NR == 47 && worst < 1e-4) }'; }
check "right and wrong translations: the same ln p within 1e-4" same expected
check "another activation gives others" eval \
    'fixture marian-reader imported activation_function=gelu <both >others && ! same others'
