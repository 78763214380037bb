"""The same training in stock PyTorch: the peer of `scripts/benchmark`; protocol in peer.h.

    python3 benchmark/peer.py BATCHES CONFIG    BATCHES: a file of ids, CONFIG: JSON

nn.Transformer as it comes (post-norm; dropout on attention and inside the feed-forward network,
too, and a norm behind each stack), one embedding for source, target and output, sinusoidal
positions, nn.CrossEntropyLoss with label smoothing, clipping, torch.optim.Adam. No torch.compile,
no bfloat16: float32, as the program beside it.

An update is sorted by length and cut into padded batches of about CHUNK_TOKENS, whose gradients
add up, as those who train with PyTorch do to save padding.
"""
import array
import json
import math
import os
import sys
import time

CONFIG = json.loads(sys.argv[2])
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = str(CONFIG["threads"])  # read when the library is loaded
# PyTorch's threads and OpenBLAS's are not the same ones; those that wait must not spin.
os.environ["OMP_WAIT_POLICY"] = "passive"

import torch
from torch import nn
from torch.nn import functional


CHUNK_TOKENS = 500  # of 8,000: 1 chunk 1,700 tokens/s, 4 2,300, 8, 16 and 32 4,200 (tiny)


class Model(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.pad, width = c["vocab"] - 1, c["d_model"]
        self.embedding = nn.Embedding(c["vocab"], width, padding_idx=self.pad)
        nn.init.normal_(self.embedding.weight, std=width ** -0.5)
        self.dropout = nn.Dropout(c["dropout"])
        self.transformer = nn.Transformer(
            width, c["heads"], c["encoder_layers"], c["decoder_layers"], c["ffn"], c["dropout"],
            batch_first=True)
        angle = torch.arange(1024)[:, None] / 10000 ** (torch.arange(0, width, 2) / width)
        self.register_buffer("positions", torch.cat([angle.sin(), angle.cos()], dim=1))

    def embed(self, ids):
        x = self.embedding(ids) * math.sqrt(self.embedding.embedding_dim)
        return self.dropout(x + self.positions[: ids.shape[1]])

    def forward(self, source, shifted):
        hidden = source == self.pad
        causal = torch.triu(torch.ones(shifted.shape[1], shifted.shape[1], dtype=torch.bool), 1)
        behind = torch.zeros_like(shifted, dtype=torch.bool)
        behind[:, 1:] = shifted[:, 1:] == self.pad  # the first <pad> is the beginning
        x = self.transformer(
            self.embed(source), self.embed(shifted), tgt_mask=causal,
            src_key_padding_mask=hidden, tgt_key_padding_mask=behind,
            memory_key_padding_mask=hidden)
        return functional.linear(x, self.embedding.weight)


def read_updates(path, pad):
    """[(chunks, target tokens, tokens)], a chunk being (source [S,n], target [S,m]), padded."""
    numbers = array.array("i")
    with open(path, "rb") as file:
        numbers.frombytes(file.read())
    place = 1

    def take(count):
        nonlocal place
        place += count
        return numbers[place - count : place]

    def rows(ids, start):
        return [torch.tensor(ids[a:b]) for a, b in zip(start, start[1:])]

    def padded(rows):
        return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=pad).long()

    updates = []
    for _ in range(numbers[0]):
        sentences, n, m = take(3)
        starts = take(sentences + 1), take(sentences + 1)
        pairs = list(zip(rows(take(n), starts[0]), rows(take(m), starts[1])))
        pairs.sort(key=lambda pair: len(pair[0]) + len(pair[1]))
        size = -(-len(pairs) // max(1, round((n + m) / CHUNK_TOKENS)))
        chunks = [pairs[i : i + size] for i in range(0, len(pairs), size)]
        chunks = [tuple(padded(side) for side in zip(*chunk)) for chunk in chunks]
        updates.append((chunks, m, n + m))
    return updates


def main():
    torch.set_num_threads(CONFIG["threads"])
    torch.manual_seed(1)
    pad = CONFIG["vocab"] - 1
    updates = read_updates(sys.argv[1], pad)
    model = Model(CONFIG).train()
    criterion = nn.CrossEntropyLoss(
        ignore_index=pad, label_smoothing=CONFIG["label_smoothing"], reduction="sum")
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9)
    print("ready", flush=True)
    for count, _ in enumerate(sys.stdin):
        chunks, targets, tokens = updates[count % len(updates)]
        begin, places = time.perf_counter(), 0
        optimizer.zero_grad()
        for source, target in chunks:
            shifted = torch.cat([torch.full((len(target), 1), pad), target[:, :-1]], dim=1)
            loss = criterion(model(source, shifted).flatten(0, 1), target.flatten()) / targets
            loss.backward()
            places += source.numel() + target.numel()
        norm = nn.utils.clip_grad_norm_(model.parameters(), CONFIG["clip_norm"])
        if not math.isfinite(norm):
            sys.exit("a gradient is not finite")
        optimizer.step()
        seconds = time.perf_counter() - begin
        print(f"{seconds:.6f} {tokens} {places}", flush=True)


main()
