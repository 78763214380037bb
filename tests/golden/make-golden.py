#!/usr/bin/python3
"""Reference vectors for tests/golden.c, from PyTorch: `make golden`.

Small networks, one as MarianMT has it (Vaswani et al. 2017, post-norm; Junczys-Dowmunt et al. 2018)
and two with the other options (pre-norm: Xiong et al. 2020; GELU, SiLU, …), put together
from torch.nn modules, with padded batches, masks and torch.autograd: nothing of it is shared with
the program under test, which has neither padding nor masks nor autograd. Everything is computed in
float64 from weights that are float32 numbers, and stored as float32 (safetensors, by hand: eight
bytes of header length, a JSON header, the numbers).

golden.safetensors, pre-gelu.safetensors, post-swish.safetensors
    source.ids source.starts target.ids target.starts     I32, sentences one behind the other
    weight.NAME gradient.NAME     by Hugging Face's names
    nll objective         [1]     means over the target tokens
    encoded output                rows one behind the other, padding left out
    attention.USE         the last layer's probabilities: for each sentence, for each head, [n,m]
and in the first
    updated.1.NAME updated.5.NAME
    gradient_norm         [5]     of each update's gradient, before clipping
"""
import json
import math
import os
import struct
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional

V, LAYERS, PAD, END, LONGEST = 37, 2, 36, 0, 16
SMOOTHING, RATE, BETAS, CLIP, UPDATES = 0.1, 0.01, (0.9, 0.98), 1.0, 5
# Large enough to be seen in the result, and to keep Adam from blowing up the rounding errors of
# gradients that vanish (those of the keys' biases).
EPS = 1e-4
LENGTHS = [(4, 6), (1, 1), (7, 3), (2, 9)]  # source and target tokens, </s> included


@dataclass
class Options:
    """Of one network; the defaults are MarianMT's."""
    file: str
    seed: int
    d: int = 16
    heads: int = 4
    ffn: int = 32
    pre: bool = False
    activation: object = functional.relu
    positions: str = "sinusoidal"
    tying: str = "all"
    source_vocab: int = V


NETWORKS = [
    Options("golden", 20170612),
    Options("pre-gelu", 20200212, 8, 2, 12, True, functional.gelu, "learned", "none", 41),
    Options("post-swish", 20171016, 8, 2, 12, False, functional.silu, "none", "decoder"),
]


class Attention(nn.Module):
    def __init__(self, o):
        super().__init__()
        self.heads = o.heads
        for name in ("k_proj", "v_proj", "q_proj", "out_proj"):
            setattr(self, name, nn.Linear(o.d, o.d))

    def forward(self, x, memory, hidden):
        """hidden: True where a query may not look, broadcast to [batch, heads, queries, keys]."""
        batch, n, D = x.shape
        heads = lambda t: t.view(batch, -1, self.heads, D // self.heads).transpose(1, 2)
        q, k, v = heads(self.q_proj(x)), heads(self.k_proj(memory)), heads(self.v_proj(memory))
        scores = torch.einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(D // self.heads)
        self.probabilities = scores.masked_fill(hidden, -math.inf).softmax(-1)
        mixed = torch.einsum("bhqk,bhkd->bhqd", self.probabilities, v)
        return self.out_proj(mixed.transpose(1, 2).reshape(batch, n, D))


class Layer(nn.Module):
    def __init__(self, o, cross):
        super().__init__()
        self.pre, self.activation = o.pre, o.activation
        self.self_attn = Attention(o)
        self.self_attn_layer_norm = nn.LayerNorm(o.d)
        if cross:
            self.encoder_attn = Attention(o)
            self.encoder_attn_layer_norm = nn.LayerNorm(o.d)
        self.fc1, self.fc2 = nn.Linear(o.d, o.ffn), nn.Linear(o.ffn, o.d)
        self.final_layer_norm = nn.LayerNorm(o.d)

    def add(self, norm, x, sublayer):
        return x + sublayer(norm(x)) if self.pre else norm(x + sublayer(x))

    def forward(self, x, hidden, memory=None, memory_hidden=None):
        x = self.add(self.self_attn_layer_norm, x, lambda x: self.self_attn(x, x, hidden))
        if memory is not None:
            x = self.add(self.encoder_attn_layer_norm, x,
                         lambda x: self.encoder_attn(x, memory, memory_hidden))
        return self.add(self.final_layer_norm, x,
                        lambda x: self.fc2(self.activation(self.fc1(x))))


class Stack(nn.Module):
    def __init__(self, o, cross):
        super().__init__()
        if o.tying != "all":
            vocab = V if cross else o.source_vocab
            self.embed_tokens = nn.Embedding(vocab, o.d, padding_idx=vocab - 1)
        if o.positions == "learned":
            self.embed_positions = nn.Embedding(LONGEST, o.d)
        self.layers = nn.ModuleList(Layer(o, cross) for _ in range(LAYERS))
        if o.pre:
            self.layer_norm = nn.LayerNorm(o.d)

    def forward(self, x, *context):
        for layer in self.layers:
            x = layer(x, *context)
        return self.layer_norm(x) if hasattr(self, "layer_norm") else x


class Model(nn.Module):
    def __init__(self, o):
        super().__init__()
        if o.tying == "all":
            self.shared = nn.Embedding(V, o.d, padding_idx=PAD)
        self.encoder, self.decoder = Stack(o, False), Stack(o, True)


def sinusoids(length, D):
    """Sines in the first half of a row, cosines in the second."""
    wave = torch.tensor([10000.0 ** (-2 * k / D) for k in range(D // 2)])
    angle = torch.outer(torch.arange(length).to(wave), wave)
    return torch.cat([angle.sin(), angle.cos()], dim=1)


class Marian(nn.Module):
    def __init__(self, o):
        super().__init__()
        self.o, self.model = o, Model(o)
        self.final_logits_bias = nn.Parameter(torch.zeros(1, V))
        if o.tying == "none":
            self.lm_head = nn.Linear(o.d, V, bias=False)

    def tokens(self, stack):
        return self.model.shared if self.o.tying == "all" else stack.embed_tokens

    def embed(self, ids, stack):
        x, length = self.tokens(stack)(ids) * math.sqrt(self.o.d), ids.shape[1]
        if self.o.positions == "sinusoidal":
            return x + sinusoids(length, self.o.d)
        if self.o.positions == "learned":
            return x + stack.embed_positions(torch.arange(length))
        return x

    def forward(self, source, source_padding, shifted):
        encoder, decoder = self.model.encoder, self.model.decoder
        hidden = source_padding[:, None, None, :]
        self.encoded = encoder(self.embed(source, encoder), hidden)
        m = shifted.shape[1]
        future = torch.ones(m, m, dtype=torch.bool).triu(1)
        self.output = decoder(self.embed(shifted, decoder), future, self.encoded, hidden)
        table = self.lm_head if self.o.tying == "none" else self.tokens(decoder)
        logits = functional.linear(self.output, table.weight) + self.final_logits_bias
        return logits[..., :PAD]  # <pad> is never produced: it is no class


def pad(sentences, filler):
    width = max(map(len, sentences))
    return torch.tensor([s + [filler] * (width - len(s)) for s in sentences])


def make(o):
    torch.manual_seed(o.seed)
    model = Marian(o)
    with torch.no_grad():  # every tensor away from its initial value; numbers that float32 has
        for name, p in model.named_parameters():
            p += torch.randn_like(p) * (0.2 if p.dim() == 1 or p.shape[0] == 1 else 0.1)
            if "shared" in name or "embed_tokens" in name:
                p *= 0.5
                p[-1] = 0  # <pad>
            p.copy_(p.float().double())

    sentence = lambda length, filler: torch.randint(1, filler, (length - 1,)).tolist() + [END]
    pairs = [(sentence(n, o.source_vocab - 1), sentence(m, PAD)) for n, m in LENGTHS]
    sources, targets = [list(side) for side in zip(*pairs)]
    source, target = pad(sources, o.source_vocab - 1), pad(targets, PAD)
    shifted = pad([[PAD] + t[:-1] for t in targets], PAD)
    padding = torch.arange(source.shape[1]) >= torch.tensor([[len(s)] for s in sources])
    mean = lambda logits, smoothing: functional.cross_entropy(
        logits.reshape(-1, PAD), target.masked_fill(target == PAD, -100).reshape(-1),
        label_smoothing=smoothing)

    saved = {}

    def keep(name, tensor, dtype=torch.float32):
        saved[name] = tensor.detach().clone().to(dtype).contiguous()

    def keep_all(prefix, value):
        for name, p in model.named_parameters():
            keep(f"{prefix}.{name}", value(p))

    for side, sentences in (("source", sources), ("target", targets)):
        starts = [sum(map(len, sentences[:s])) for s in range(len(sentences) + 1)]
        keep(f"{side}.ids", torch.tensor(sum(sentences, [])), torch.int32)
        keep(f"{side}.starts", torch.tensor(starts), torch.int32)
    keep_all("weight", lambda p: p)

    adam = torch.optim.Adam(model.parameters(), lr=RATE, betas=BETAS, eps=EPS)
    norms = []
    updates = UPDATES if o.file == "golden" else 1
    for update in range(1, updates + 1):
        adam.zero_grad()
        logits = model(source, padding, shifted)
        objective = mean(logits, SMOOTHING)
        objective.backward()
        if update == 1:
            keep("nll", mean(logits, 0.0).reshape(1))
            keep("objective", objective.reshape(1))
            keep_all("gradient", lambda p: p.grad)
            rows = lambda x, sentences: torch.cat([x[s, :len(t)]
                                                   for s, t in enumerate(sentences)])
            keep("encoded", rows(model.encoded, sources))
            keep("output", rows(model.output, targets))
            encoder, decoder = model.model.encoder.layers[-1], model.model.decoder.layers[-1]
            for use, layer, queries, keys in (("encoder", encoder.self_attn, sources, sources),
                                              ("decoder", decoder.self_attn, targets, targets),
                                              ("cross", decoder.encoder_attn, targets, sources)):
                keep(f"attention.{use}", torch.cat([
                    layer.probabilities[s, :, :len(queries[s]), :len(keys[s])].reshape(-1)
                    for s in range(len(sources))]))
        norms.append(nn.utils.clip_grad_norm_(model.parameters(), CLIP))
        adam.step()
        if updates > 1 and update in (1, updates):
            keep_all(f"updated.{update}", lambda p: p)
    if updates > 1:
        keep("gradient_norm", torch.stack(norms))

    header, data = {}, b""
    for name, tensor in saved.items():
        bytes_ = tensor.numpy().tobytes()
        header[name] = {"dtype": "I32" if tensor.dtype == torch.int32 else "F32",
                        "shape": list(tensor.shape),
                        "data_offsets": [len(data), len(data) + len(bytes_)]}
        data += bytes_
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), f"{o.file}.safetensors")
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)
    print(f"{path}: {len(saved)} tensors, {8 + len(text) + len(data)} bytes;",
          f"objective {objective.item():.6f} at update {updates};",
          "gradient norms", " ".join(f"{n.item():.3f}" for n in norms))


def main():
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    for o in NETWORKS:
        make(o)


if __name__ == "__main__":
    main()
