#!/bin/sh
# reader.sh -- ./translate --score against tests/fixtures/marian-reader.py, which computes the same network
# in numpy and float64, written from the paper: the toy model on sentences without punctuation.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh
/usr/bin/python3 -c 'import numpy' 2>/dev/null || { echo "skipped reader: python3-numpy is missing"; exit; }

toy=$here/data/toy/model.safetensors
cat >config.json <<'END_CONFIG'
{"activation_function": "relu", "scale_embedding": true, "encoder_layers": 2, "decoder_layers": 2,
 "encoder_attention_heads": 4, "decoder_attention_heads": 4, "pad_token_id": 621,
 "decoder_start_token_id": 621, "eos_token_id": 0}
END_CONFIG
paste "$here/data/toy/test.en" "$here/data/toy/test.fr" | grep -v "['.,?!-]" | head -n 40 >pairs
awk -F '\t' -v OFS='\t' 'NR == 1 { first = $2 } { print } NR > 1 && NR < 9 { print $1, first }' pairs >both
read_scores() { /usr/bin/python3 "$here/tests/fixtures/marian-reader.py" "$toy" "$1" <both; }
check "the reader scores" eval 'read_scores config.json >expected && test "$(wc -l <expected)" -eq 47'
check "./translate scores" eval '"$BIN/translate" --model "$toy" --score <both >got'
same() { paste "$1" got | awk '{ d = $1 - $2; if (d < 0) d = -d; if (d > worst) worst = d } END { exit !(NR == 47 && worst < 1e-4) }'; }
check "right and wrong translations: the same ln p within 1e-4" same expected
sed 's/relu/gelu/' config.json >gelu.json
check "another activation gives others" eval 'read_scores gelu.json >others && ! same others'
