"""The same training in stock PyTorch: the peer of `scripts/benchmark`; protocol in peer.h.

    python3 benchmark/peer.py BATCHES CONFIG    BATCHES: a file of ids, CONFIG: JSON

nn.Transformer as it comes (post-norm; dropout on attention and inside the feed-forward network,
too, and a norm behind each stack), one embedding for source, target and output, sinusoidal
positions, nn.CrossEntropyLoss with label smoothing, clipping, torch.optim.Adam. A batch is padded
to its longest sentence, as DataLoader's usual collate function does it; nothing is sorted. No
torch.compile, no bfloat16: float32, as the program beside it.
"""
import array
import json
import math
import sys
import time

import torch
from torch import nn
from torch.nn import functional


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


def read_batches(path, pad):
    """[(source [S,n], target [S,m], tokens)], padded."""
    numbers = array.array("i")
    with open(path, "rb") as file:
        numbers.frombytes(file.read())
    place = 1

    def take(count):
        nonlocal place
        place += count
        return numbers[place - count : place]

    def padded(ids, start):
        rows = [torch.tensor(ids[a:b]) for a, b in zip(start, start[1:])]
        return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=pad).long()

    batches = []
    for _ in range(numbers[0]):
        sentences, n, m = take(3)
        starts = take(sentences + 1), take(sentences + 1)
        source, target = take(n), take(m)
        batches.append((padded(source, starts[0]), padded(target, starts[1]), n + m))
    return batches


def main():
    config = json.loads(sys.argv[2])
    torch.set_num_threads(config["threads"])
    torch.manual_seed(1)
    pad = config["vocab"] - 1
    batches = read_batches(sys.argv[1], pad)
    model = Model(config).train()
    criterion = nn.CrossEntropyLoss(
        ignore_index=pad, label_smoothing=config["label_smoothing"])
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9)
    print("ready", flush=True)
    for count, _ in enumerate(sys.stdin):
        source, target, tokens = batches[count % len(batches)]
        begin = time.perf_counter()
        shifted = torch.cat([torch.full((len(target), 1), pad), target[:, :-1]], dim=1)
        optimizer.zero_grad()
        loss = criterion(model(source, shifted).flatten(0, 1), target.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), config["clip_norm"])
        optimizer.step()
        if not math.isfinite(loss.item()):
            sys.exit("the loss is not finite")
        seconds = time.perf_counter() - begin
        print(f"{seconds:.6f} {tokens} {source.numel() + target.numel()}", flush=True)


main()
