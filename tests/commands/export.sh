#!/bin/sh
# export.sh -- ./translate --export: the files and their contents, by Python's standard library; the weights
# and the configuration by tests/fixtures/marian-reader.py; what MarianMT does not have; no half of a folder.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh
toy=$here/data/toy/model.safetensors
translate() { "$BIN/translate" "$@"; }

check "--export" translate --model "$toy" --export new/folder/
is_whole() { test "$(cd "$1" && echo *)" = "config.json generation_config.json model.safetensors source.spm target.spm tokenizer_config.json vocab.json"; }
check "its files" is_whole new/folder
check "nothing else is left" sh -c 'test "$(ls new)" = folder'
if command -v python3 >/dev/null; then
    check "configuration, vocabulary and weights" python3 -c '
import json, struct
config, search, words = (json.load(open("new/folder/" + n)) for n in ("config.json", "generation_config.json", "vocab.json"))
pad = config["vocab_size"] - 1
assert config["model_type"] == "marian" and config["activation_function"] == "relu" and config["scale_embedding"] is True
for c in config, search:
    assert c["pad_token_id"] == c["decoder_start_token_id"] == pad and c["bad_words_ids"] == [[pad]]
    assert c["eos_token_id"] == c["forced_eos_token_id"] == 0
assert sorted(words.values()) == list(range(pad + 1))
assert words["</s>"] == 0 and words["<unk>"] == 1 and words["<pad>"] == pad
with open("new/folder/model.safetensors", "rb") as file:
    head = json.loads(file.read(struct.unpack("<Q", file.read(8))[0])); data = file.read()
assert head["__metadata__"]["format"] == "pt" and "tokenizer" not in head
begin, end = head["final_logits_bias"]["data_offsets"]
bias = struct.unpack("<%df" % (pad + 1), data[begin:end])
assert bias[pad] == -10000 and min(bias[:pad]) > -100'
fi
if /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
    paste "$here/data/toy/test.en" "$here/data/toy/test.fr" | grep -v "['.,?!-]" | head -n 20 >pairs
    /usr/bin/python3 "$here/tests/fixtures/marian-reader.py" new/folder <pairs >expected
    translate --model "$toy" --score <pairs >got 2>err
    check "an independent reader gives the same ln p" sh -c 'paste expected got |
        awk "{ d = \$1 - \$2; if (d < 0) d = -d; if (d > 1e-4) bad = 1 } END { exit bad || NR != 20 }"'
fi

wrong "a folder that has files" 1 "cannot write the folder 'new/folder': Directory not empty" \
    translate --model "$toy" --export new/folder
check "it stays as it was" is_whole new/folder
mkdir disk && ln -s disk link
check "a link to an empty folder" translate --model "$toy" --export link/
check "is followed" is_whole disk
mkdir here
wrong "a folder that is in use" 1 "it is in use, or a disk: name a new folder in it" \
    sh -c 'cd here; exec "$0" --model "$1" --export .' "$BIN/translate" "$toy"
mkdir mine mine.tmp
echo precious | tee mine.tmp/config.json mine.tmp/notes >mine/file
ln -s mine.tmp beside.tmp
translate --model "$toy" --export beside
wrong "a folder that has a file" 1 "Directory not empty" translate --model "$toy" --export mine
check "folders DIR.tmp stay" sh -c 'cat mine.tmp/config.json mine.tmp/notes mine/file | uniq | grep -qx precious'
check "nothing is left over" sh -c '! ls -d ./*.tmp-*'
for file in config.json vocab.json source.spm target.spm model.safetensors; do
    rm -rf pipes && cp -r new/folder pipes && rm pipes/$file && mkfifo pipes/$file
    wrong "a pipe in the place of $file" 1 "^translate: cannot read 'pipes/$file': it is a device or a pipe, not a file$" \
        timeout 20 "$BIN/translate" --model pipes --quiet one
done
wrong "a text, too" 2 "only --model goes with it" translate --model "$toy" --export no one
wrong "--int8, too" 2 "only --model goes with it" translate --model "$toy" --int8 --export no
translate --model "$toy" --save-int8 small.safetensors
wrong "int8" 1 "MarianMT has no weights quantised to int8" translate --model small.safetensors --export no
language 60 5
"$latest" "$BIN/train" $tiny $corpus --augment 0.5 --vocab-size 68 --max-updates 3 --quiet --output reserved >/dev/null 2>&1
translate --model reserved --export exported
check "placeholders stay in the vocabulary" sh -c '"$0/translate" --model exported --list-vocabulary | head -n 8 | tr -d "\n" |
    grep -qx "<ph1><ph2><ph3><ph4><ph5><ph6><ph7><ph8>"' "$BIN"
echo "one {x} two %d {x}" >marked
for model in reserved exported; do
    check "each is translated as often as it is there: $model" sh -c '"$0/translate" --model "$1" <marked |
        grep -o "{x}\|%d" | sort | tr -d "\n" | grep -qx "%d{x}{x}"' "$BIN" $model
done
check "a run begins with it" "$latest" "$BIN/train" $corpus --init exported --max-updates 3 --quiet --output again
check "and keeps them" sh -c '"$0/translate" --model again --list-vocabulary | grep -qx "<ph8>"' "$BIN"
rm -rf reserved exported again
# refused NAME OPTIONS...
refused() {
    what=$1
    shift
    "$latest" "$BIN/train" $tiny $corpus --max-updates 1 --quiet --output other "$@" >/dev/null 2>&1
    wrong "$what is refused" 1 "MarianMT has $what" translate --model other --export no
    rm -rf other
}
refused "no norm pre" --norm pre
refused "no positions learned" --positions learned
refused "no positions none" --positions none
refused "no attention-score cosine" --attention-score cosine
refused "no projections qk-shared" --projections qk-shared
refused "one vocabulary" --vocabulary separate --tying decoder
check "and nothing is written" sh -c "! ls -d no*"
