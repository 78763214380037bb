#!/bin/sh
# marian.sh -- --model with a folder of Hugging Face's MarianMT: an exported model gives what the model itself
# gives, byte for byte, whatever the types, names and ids in the folder; what is refused, and why.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh
command -v python3 >/dev/null || { echo "skipped marian: python3 is missing"; exit; }
toy=$here/data/toy/model.safetensors
translate() { "$BIN/translate" "$@"; }
variant() { python3 "$here/tests/fixtures/marian-variants.py" folder "$@"; }
head -n 30 "$here/data/toy/test.en" >lines
paste "$here/data/toy/test.en" "$here/data/toy/test.fr" | head -n 30 >pairs
# answers MODEL: translations with scores and tokens, and ln p of given translations
answers() { translate --quiet --model "$1" --json <lines && translate --quiet --model "$1" --score <pairs; }
# same NAME MODEL MODEL
same() { check "$1" sh -c 'cmp one two && test -s one' "$(answers "$2" >one 2>err)" "$(answers "$3" >two 2>err)"; }

translate --model "$toy" --export folder
same "exported and read again" "$toy" folder
for names in special untied lm-head; do
    variant $names $names && same "$names" folder $names
done
for type in bf16 f16; do
    variant $type $type && variant $type-f32 $type-f32 && same "$type" $type-f32 $type
    check "$type is not float32" sh -c '! cmp -s one toy' "$(answers folder >toy)"
done
variant zero start-9 && variant start start-9=1 && same "decoder_start_token_id" zero start
check "--int8" sh -c 'cmp one two && test -s one' "$(translate --model "$toy" --int8 <lines >one)" \
    "$(translate --model folder --save-int8 int8 && translate --model int8 <lines >two)"
check "--attention and --explain" eval 'translate --model special --attention map.png "jane visits africa" >out &&
    translate --model special --explain "jane visits africa" >out'
check "exported again" translate --model special --export again
same "and read again" folder again

variant tag tag
tokens() { translate --quiet --model tag --json --show "$1" | sed 's/.*"columns":\["\([^]]*\)"\].*/\1/; s/","/ /g'; }
is() { check "$1" test "$2" = "$3"; }
is "a target tag" "$(tokens ">>fra<< jane visits")" ">>fra<< ▁jane ▁visits </s>"
is "not within the text" "$(tokens "jane >>fra<<" | grep -c 'fra')" 0
word=$(python3 -c 'import json; print(*(p for p, i in json.load(open("folder/vocab.json")).items() if i == 9))')
is "a piece that vocab.json lacks" "$(tokens "jane ${word#▁}")" "▁jane <unk> </s>"

(cd "$here" && "$BIN/train" --init "$scratch/special" --max-updates 1 --quiet --output "$scratch/tuned" \
    --learning-rate 1e-8) >/dev/null 2>err
check "./train --init" test -f tuned/last.safetensors
wrong "--replay, which needs a text" 2 "'special', a folder of MarianMT, does not name its text" \
    "$BIN/train" --init special --replay --train-tsv pairs --valid-tsv pairs --dry-run

# refused NAME PATTERN VARIANT...
number=0
refused() {
    name=$1 pattern=$2
    shift 2
    number=$((number + 1))
    variant "bad$number" "$@" && wrong "$name is refused" 1 "$pattern" translate --model "bad$number" one
}
refused "another type" "config.json': model_type is not 'marian'" 'set=model_type="bart"'
refused "a stack of other heads" "encoder_attention_heads is not that of the decoder" set=decoder_attention_heads=2
refused "another activation" "config.json': activation_function is not relu" 'set=activation_function="gelu_new"'
refused "embeddings as they are" "config.json': scale_embedding false" set=scale_embedding=false
refused "pre-norm" "config.json': normalize_before true" set=normalize_before=true
refused "a stack of another width" "encoder_ffn_dim is not that of the decoder" set=decoder_ffn_dim=7
refused "fewer layers than there are" "decoder_layers is less than model.safetensors has" set=decoder_layers=1
refused "a width that is a text" "config.json': d_model must be a whole number from 2 to" 'set=d_model="x"'
refused "a huge width" "d_model" set=d_model=999999999999
refused "a wide network in a small file" "shape\|configuration makes it" set=encoder_ffn_dim=4096 set=decoder_ffn_dim=4096
refused "another size of the vocabulary" "config.json': vocab_size does not fit vocab.json" set=vocab_size=600
refused "a start beyond the vocabulary" "decoder_start_token_id does not fit" set=decoder_start_token_id=622
refused "a negative end" "eos_token_id must be a whole number from 0 to" set=eos_token_id=-1
refused "two words with one id" "vocab.json': the id of" 'word=▁the=3'
refused "an id that is a text" "vocab.json': the id of" 'word=▁the="x"'
refused "another </s>" "has not </s>, <unk> and <pad> where" set=eos_token_id=4
variant broken && echo '{' >broken/vocab.json
wrong "a broken vocab.json" 1 "broken/vocab.json:" translate --model broken one
variant spm && echo x >spm/source.spm
wrong "a broken source.spm" 1 "spm/source.spm'" translate --model spm one
wrong "the weights without their folder" 1 "of a MarianMT model, name the folder" \
    translate --model spm/model.safetensors one
mv spm/model.safetensors spm/pytorch_model.bin
wrong "a folder before scripts/import" 1 "'spm' has no model.safetensors: scripts/import makes" translate --model spm one
