#!/usr/bin/python3
"""Reference vectors for tests/golden.c, from PyTorch: `make golden`.

A small MarianMT network (Vaswani et al. 2017, post-norm; Junczys-Dowmunt et al. 2018) put together
from torch.nn modules, with padded batches, masks and torch.autograd: nothing of it is shared with
the program under test, which has neither padding nor masks nor autograd. Everything is computed in
float64 from weights that are float32 numbers, and stored as float32 (safetensors, by hand: eight
bytes of header length, a JSON header, the numbers).

golden.safetensors
    source.ids source.starts target.ids target.starts     I32, sentences one behind the other
    weight.NAME gradient.NAME updated.1.NAME updated.5.NAME     by Hugging Face's names
    nll objective         [1]     means over the target tokens
    gradient_norm         [5]     of each update's gradient, before clipping
    encoded output                rows one behind the other, padding left out
    attention.USE         the last layer's probabilities: for each sentence, for each head, [n,m]
"""
import json
import math
import os
import struct

import torch
from torch import nn
from torch.nn import functional

V, D, HEADS, FFN, LAYERS, PAD, END = 37, 16, 4, 32, 2, 36, 0
SMOOTHING, RATE, BETAS, CLIP, UPDATES = 0.1, 0.01, (0.9, 0.98), 1.0, 5
# Large enough to be seen in the result, and to keep Adam from blowing up the rounding errors of
# gradients that vanish (those of the keys' biases).
EPS = 1e-4
LENGTHS = [(4, 6), (1, 1), (7, 3), (2, 9)]  # source and target tokens, </s> included


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        for name in ("k_proj", "v_proj", "q_proj", "out_proj"):
            setattr(self, name, nn.Linear(D, D))

    def forward(self, x, memory, hidden):
        """hidden: True where a query may not look, broadcast to [batch, heads, queries, keys]."""
        batch, n, _ = x.shape
        heads = lambda t: t.view(batch, -1, HEADS, D // HEADS).transpose(1, 2)
        q, k, v = heads(self.q_proj(x)), heads(self.k_proj(memory)), heads(self.v_proj(memory))
        scores = torch.einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(D // HEADS)
        self.probabilities = scores.masked_fill(hidden, -math.inf).softmax(-1)
        mixed = torch.einsum("bhqk,bhkd->bhqd", self.probabilities, v)
        return self.out_proj(mixed.transpose(1, 2).reshape(batch, n, D))


class Layer(nn.Module):
    def __init__(self, cross):
        super().__init__()
        self.self_attn = Attention()
        self.self_attn_layer_norm = nn.LayerNorm(D)
        if cross:
            self.encoder_attn = Attention()
            self.encoder_attn_layer_norm = nn.LayerNorm(D)
        self.fc1, self.fc2 = nn.Linear(D, FFN), nn.Linear(FFN, D)
        self.final_layer_norm = nn.LayerNorm(D)

    def forward(self, x, hidden, memory=None, memory_hidden=None):
        x = self.self_attn_layer_norm(x + self.self_attn(x, x, hidden))
        if memory is not None:
            x = self.encoder_attn_layer_norm(x + self.encoder_attn(x, memory, memory_hidden))
        return self.final_layer_norm(x + self.fc2(functional.relu(self.fc1(x))))


class Stack(nn.Module):
    def __init__(self, cross):
        super().__init__()
        self.layers = nn.ModuleList(Layer(cross) for _ in range(LAYERS))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared = nn.Embedding(V, D, padding_idx=PAD)
        self.encoder, self.decoder = Stack(False), Stack(True)


def positions(length):
    """Sines in the first half of a row, cosines in the second."""
    wave = torch.tensor([10000.0 ** (-2 * k / D) for k in range(D // 2)])
    angle = torch.outer(torch.arange(length).to(wave), wave)
    return torch.cat([angle.sin(), angle.cos()], dim=1)


class Marian(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = Model()
        self.final_logits_bias = nn.Parameter(torch.zeros(1, V))

    def embed(self, ids):
        return self.model.shared(ids) * math.sqrt(D) + positions(ids.shape[1])

    def forward(self, source, source_padding, shifted):
        hidden = source_padding[:, None, None, :]
        x = self.embed(source)
        for layer in self.model.encoder.layers:
            x = layer(x, hidden)
        self.encoded = x
        m = shifted.shape[1]
        future = torch.ones(m, m, dtype=torch.bool).triu(1)
        y = self.embed(shifted)
        for layer in self.model.decoder.layers:
            y = layer(y, future, x, hidden)
        self.output = y
        logits = functional.linear(y, self.model.shared.weight) + self.final_logits_bias
        return logits[..., :PAD]  # <pad> is never produced: it is no class


def pad(sentences):
    width = max(map(len, sentences))
    return torch.tensor([s + [PAD] * (width - len(s)) for s in sentences])


def main():
    torch.manual_seed(20170612)
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    model = Marian()
    with torch.no_grad():  # every tensor away from its initial value; numbers that float32 has
        for name, p in model.named_parameters():
            p += torch.randn_like(p) * (0.2 if p.dim() == 1 or p.shape[0] == 1 else 0.1)
            if name == "model.shared.weight":
                p *= 0.5
                p[PAD] = 0
            p.copy_(p.float().double())

    sentence = lambda length: torch.randint(1, PAD, (length - 1,)).tolist() + [END]
    pairs = [(sentence(n), sentence(m)) for n, m in LENGTHS]
    sources, targets = [list(side) for side in zip(*pairs)]
    source, target = pad(sources), pad(targets)
    shifted = pad([[PAD] + t[:-1] for t in targets])
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
    for update in range(1, UPDATES + 1):
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
        if update in (1, UPDATES):
            keep_all(f"updated.{update}", lambda p: p)
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
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden.safetensors")
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)
    print(f"{path}: {len(saved)} tensors, {8 + len(text) + len(data)} bytes;",
          f"objective {objective.item():.6f} after {UPDATES} updates;",
          "gradient norms", " ".join(f"{n.item():.3f}" for n in norms))


if __name__ == "__main__":
    main()
