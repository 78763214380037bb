"""example.py -- translates its arguments, and says what each word of the first translation attends to.

    python3 example.py model.safetensors "jane visits africa in september" """
import sys

import qkv

with qkv.Model(sys.argv[1], beam=5) as model:
    translations = model.translate(sys.argv[2:])
    print(*translations, sep="\n")
    seen = model.attention(sys.argv[2], translations[0])
    for token, weights in zip(seen.target, seen.weights("cross", layer=-1)):
        most = max(range(len(seen.source)), key=lambda j: weights[j])
        print(token, seen.source[most], f"{weights[most]:.2f}", sep="\t")
