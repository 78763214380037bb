"""marian_npz.py -- reads a model of Marian's for scripts/import: one .npz file, whose special:model.yml has
the options, and a vocabulary in YAML.

Marian stores a matrix as [in,out] and a vector as [1,n], counts layers from 1, and has no <pad>. Hugging
Face's MarianMT has [out,in] and [n], counts from 0, and <pad> is the last token: a row of zeros, with a
bias that keeps it from being the answer."""
import array
import ast
import collections
import json
import math
import os
import re
import struct
import zipfile

# read() yields the tensor's bytes, row-major, in pieces.
Tensor = collections.namedtuple("Tensor", "dtype shape read")


class Refused(Exception):
    pass


def need(condition, why):
    if not condition:
        raise Refused(why)


def npy(archive, name):
    """dtype, shape and bytes of one array."""
    data = archive.read(name + ".npy")
    need(data[:6] == b"\x93NUMPY" and len(data) > 12, f"{name} is not a numpy array")
    begin = 10 if data[6] == 1 else 12
    end = begin + int.from_bytes(data[8:begin], "little")
    try:
        header = ast.literal_eval(data[begin:end].decode("latin-1").strip())
        dtype, shape = header["descr"], tuple(header["shape"])
        size = {"<f4": 4, "<f2": 2, "|i1": 1}[dtype]
    except (ValueError, SyntaxError, KeyError, TypeError):
        raise Refused(f"{name} is not an array of float32 or float16")
    need(not header["fortran_order"] and len(data) - end == math.prod(shape) * size,
         f"{name} has another size than its header says")
    return dtype, shape, memoryview(data)[end:]


def pieces(archive, name, transpose, tail):
    """Yields the array's bytes, transposed if need be, and those of one more row."""
    dtype, shape, data = npy(archive, name)
    if transpose:
        numbers = array.array("I" if dtype == "<f4" else "H", bytes(data))
        for column in range(shape[1]):
            yield numbers[column::shape[1]].tobytes()
    else:
        yield data
    yield tail


LAYER = {}  # Marian's name within a layer -> Hugging Face's
for letter, kind, norm in (("W", "weight", "scale"), ("b", "bias", "bias")):
    for sub, attention in (("self", "self_attn"), ("context", "encoder_attn")):
        for part, proj in zip("qkvo", ("q_proj", "k_proj", "v_proj", "out_proj")):
            LAYER[f"{sub}_{letter}{part}"] = f"{attention}.{proj}.{kind}"
        LAYER[f"{sub}_Wo_ln_{norm}"] = f"{attention}_layer_norm.{kind}"
    LAYER[f"ffn_{letter}1"], LAYER[f"ffn_{letter}2"] = f"fc1.{kind}", f"fc2.{kind}"
    LAYER[f"ffn_ffn_ln_{norm}"] = f"final_layer_norm.{kind}"
WHOLE = {"Wemb": "model.shared.weight", "encoder_Wemb": "model.encoder.embed_tokens.weight",
         "decoder_Wemb": "model.decoder.embed_tokens.weight", "decoder_ff_logit_out_W": "lm_head.weight",
         "decoder_ff_logit_out_b": "final_logits_bias"}
NEEDED = {"type": ("transformer",), "transformer-preprocess": ("", "d"), "transformer-postprocess": ("dan", "an"),
          "transformer-decoder-autoreg": ("self-attention",), "transformer-train-position-embeddings": ("false",),
          "right-left": ("false",)}


def hugging_name(name):
    found = re.fullmatch(r"(encoder|decoder)_l(\d+)_(\w+)", name)
    if found and found[3] in LAYER:
        return f"model.{found[1]}.layers.{int(found[2]) - 1}.{LAYER[found[3]]}"
    return WHOLE.get(name)


def tensors_and_options(path):
    """The tensors under Hugging Face's names, and the options of special:model.yml as texts."""
    archive = zipfile.ZipFile(path)
    names = [name[:-4] for name in archive.namelist() if name.endswith(".npy")]
    need("special:model.yml" in names, "it has no special:model.yml, so it is not a model of Marian's")
    text = bytes(npy(archive, "special:model.yml")[2]).rstrip(b"\0").decode("utf-8", "replace")
    yml = dict(re.findall(r"""(?m)^([\w-]+):[ \t]*["']?(.*?)["']?\s*$""", text))
    for key, good in NEEDED.items():
        need(yml.get(key, good[0]) in good, f"its {key} is '{yml.get(key)}', but MarianMT has '{good[-1]}'")
    tensors = {}
    for name in names:
        if name.startswith("special:") or name == "decoder_c_tt":
            continue
        to = hugging_name(name)
        need(to, f"it has the parameter {name}, which MarianMT lacks")
        kind, shape, data = npy(archive, name)
        need(len(shape) == 2 and kind != "|i1", f"{name} is not a matrix of float32 or float16")
        size = 4 if kind == "<f4" else 2
        transpose = name not in ("Wemb", "encoder_Wemb", "decoder_Wemb") and 1 not in shape
        shape, tail = shape[::-1] if transpose else shape, b""
        if name == "decoder_ff_logit_out_b":  # <pad> is added: a row of zeros, and never the answer
            tail = struct.pack("<f" if size == 4 else "<e", -10000.0)
            shape = (1, math.prod(shape) + 1)
        elif name in WHOLE:
            tail, shape = bytes(shape[1] * size), (shape[0] + 1, shape[1])
        elif 1 in shape:
            shape = (math.prod(shape),)
        tensors[to] = Tensor("F32" if size == 4 else "F16", shape,
                             lambda name=name, transpose=transpose, tail=tail:
                             pieces(archive, name, transpose, tail))
    return tensors, yml


def vocabulary(folder):
    found = [name for name in os.listdir(folder) if name.endswith("vocab.yml")]
    need(len(found) == 1, f"it needs one vocabulary, a file *vocab.yml, but has {len(found)}")
    vocab = {}
    with open(os.path.join(folder, found[0]), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            token, _, id_text = line.rstrip("\r\n").rpartition(":")
            try:
                if token.startswith('"'):  # YAML's escapes are those of JSON, and \\xNN
                    token = json.loads(re.sub(r"\\x(..)", r"\\u00\1", token))
                elif token.startswith("'"):
                    token = token[1:-1].replace("''", "'")
                vocab[token] = int(id_text)
            except ValueError:
                raise Refused(f"line {number} of {found[0]} is not a token and its number")
    vocab["<pad>"] = len(vocab)
    need("</s>" in vocab, "its vocabulary lacks </s>")
    need(sorted(vocab.values()) == list(range(len(vocab))), f"{found[0]} does not number its tokens from 0 on")
    return vocab


def read(path):
    """Tensors, config.json and vocab.json."""
    def count(key):
        need(yml.get(key, "").isdigit(), f"its special:model.yml does not say {key}")
        return int(yml[key])

    tensors, yml = tensors_and_options(path)
    vocab = vocabulary(os.path.dirname(path))
    every, source, target = (yml.get("tied-embeddings" + end) == "true" for end in ("-all", "-src", ""))
    config = {"activation_function": yml.get("transformer-ffn-activation", "swish"), "d_model": count("dim-emb"),
              "share_encoder_decoder_embeddings": every or source and target, "tie_word_embeddings": every or target}
    for side in ("encoder", "decoder"):
        config.update({f"{side}_layers": count(side[:3] + "-depth"), f"{side}_ffn_dim": count("transformer-dim-ffn"),
                       f"{side}_attention_heads": count("transformer-heads")})
    need(tensors.get("final_logits_bias", Tensor("", (1, 0), None)).shape[1] == len(vocab),
         "its vocabulary has another size than its decoder_ff_logit_out_b")
    return tensors, config, vocab
