#!/bin/sh
# import.sh -- scripts/import: the tensors of both formats, number by number; what it refuses, and why.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh
command -v python3 >/dev/null || { echo "skipped import: python3 is missing"; exit; }
folders() { python3 "$here/tests/fixtures/import-folders.py" "$@"; }
import() { "$here/scripts/import" "$@"; }

check "a pytorch_model.bin and a Marian model are made" eval \
    'folders torch torch && folders old old && folders marian marian && folders hostile hostile'
check "pytorch_model.bin is imported" import torch new/torch
check "its tensors: types, offsets, strides, one storage under two names" folders check torch new/torch
check "one from before PyTorch 1.6" import old new/old
check "its tensors" folders check old new/old
check "the SentencePiece models" cmp torch/target.spm new/torch/target.spm
check "the configuration is completed" python3 -c '
import json
config = json.load(open("new/torch/config.json"))
assert config["d_model"] == 2 and config["pad_token_id"] == config["decoder_start_token_id"] == 3
assert config["bad_words_ids"] == [[3]] and config["scale_embedding"] is True and config["eos_token_id"] == 0'
check "a Marian model is imported" import marian new/marian
check "its tensors: names, transposed, with a row for <pad>" folders check marian new/marian
check "its configuration and vocabulary" python3 -c '
import json
config, vocab = (json.load(open("new/marian/" + name)) for name in ("config.json", "vocab.json"))
assert vocab == {"</s>": 0, "<unk>": 1, "\u2581\"": 2, "\u2581c": 3, ":": 4, "<pad>": 5}, vocab
assert [config[k] for k in ("vocab_size", "d_model", "encoder_layers", "decoder_layers", "encoder_ffn_dim",
    "decoder_attention_heads", "activation_function", "share_encoder_decoder_embeddings", "pad_token_id",
    "eos_token_id")] == [6, 4, 1, 1, 6, 2, "relu", True, 5, 0], config'
check "again, over the first" import torch new/torch
check "within the folder itself" eval 'import torch torch && folders check torch torch'
check "nothing else is left" sh -c 'test -z "$(find . -name "*.tmp*")"'

# refuses NAME PATTERN
refuses() { wrong "refused: $1" 1 "import: .*$2" import "hostile/$1" "out.$1"; }
refuses system "names posix.system, which is not allowed"
refuses eval "names .*builtin.*eval, which is not allowed"
refuses opcode "names os.system, which is not allowed"
refuses inst "opcode STRING, which is not allowed"
refuses cut "pickle is damaged"
refuses outside "tensor outside its storage"
refuses endless "tensor outside its storage"
refuses negative "impossible shape or strides"
refuses lacks "lacks the storage 0 of w"
refuses size "storage of w has another size"
refuses long "names torch.LongStorage"
refuses list "not a dictionary of tensors"
refuses number "'w' in its pickle is not a tensor"
refuses old "pickle is damaged"
refuses other "not what torch.save writes"
refuses short "it is cut off"
refuses text "damaged"
refuses empty "damaged"
refuses bart "model_type is 'bart', not 'marian'"
refuses prenorm "transformer-preprocess is 'n'"
refuses rnn "type is 's2s', but MarianMT has 'transformer'"
refuses name "parameter encoder_l1_self_rnn, which MarianMT lacks"
refuses gap "opus.vocab.yml does not number its tokens from 0 on"
refuses more "vocabulary has another size"
refuses word "line 6 of opus.vocab.yml is not a token"
refuses nothing "needs pytorch_model.bin or one .npz file"
wrong "a folder that is not there" 1 "'nowhere': No such file" import nowhere new/none
wrong "one folder is not enough" 2 "usage: import" import torch
check "nothing was run, and no folder has half a model" sh -c '! test -e ran && test -z "$(find . -path "./out.*" -name "*.safetensors*")"'
