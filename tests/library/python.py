"""python.py -- library/qkv.py: what it answers, and that misuse is an error. Prints a line for each check.

    python3 python.py MODEL     of English-French toy sentences"""
import math
import os
import signal
import sys
import threading
import weakref

import qkv

TEXT, FRENCH = "jane visits africa in september", "jane visite l'afrique en septembre"
failed = False

def check(what, good):
    global failed
    failed |= not good
    print("ok" if good else "not ok", "python:", what)

def refused(what, kind, word, call):
    try:
        check(f"{what}: an error, not {call()!r}", False)
    except Exception as error:
        check(f"{what}: {type(error).__name__}, {error}", type(error) is kind and word in str(error))

path = sys.argv[1]
with qkv.Model(path, n_best=3, threads=2) as model:
    one = model.translate(TEXT)
    check("a text gives a text", one == FRENCH and len(one.n_best) == 3 and one.n_best[0] is one)
    check("a list gives a list", model.translate([TEXT, "", TEXT]) == [FRENCH, "", FRENCH] and model.translate([]) == [])
    check("tokens end in </s>", one.tokens[-1] == "</s>" and len(one.tokens) == len(one.ids) and one.cut == 0)
    check("a translation begins as it must", model.translate([TEXT], ["paul"])[0].startswith("paul"))
    check("each token has a probability", abs(sum(one.log_probabilities) - one.log_probability) < 1e-9 and len(one.log_probabilities) == len(one.ids))
    check("... or as it likes", model.translate([TEXT, TEXT], [None, "paul"])[0] == FRENCH)
    others = [model.translator(beam=1) for _ in range(4)]
    found = []
    threads = [threading.Thread(target=lambda other=other: found.append(other.translate([TEXT] * 20))) for other in others]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    check("several translators share the weights", found == [[FRENCH] * 20] * 4)
    score = model.score(TEXT, one)
    check("its score is the search's", abs(score - one.log_probability) < 1e-4)
    check("another one is less likely", model.score([TEXT, TEXT], [FRENCH, "jane"])[1] < score)
    class Reading(bytes):  # counts what is taken from it
        taken = 0
        def __getitem__(self, place):
            part = bytes.__getitem__(self, place)
            Reading.taken += len(part)
            return part
    long, best = "Élodie sees 東京. Jane visits africa! " * 20, qkv.Translation._best
    qkv.Translation._best = lambda found, text: best(found, Reading(text))
    several, qkv.Translation._best = model.translate(long), best
    check("sentences have their places in the text and the translation", len(several.sentences) == 40 and all(
        several[s.target] == s for s in several.sentences) and long[several.sentences[-1].source] == "Jane visits africa")
    check("finding them takes time in proportion to the text", Reading.taken <= len(long.encode()))
    seen = model.attention(TEXT)
    for kind, rows, columns in (("cross", seen.target, seen.source), ("encoder", seen.source, seen.source),
                                ("decoder", seen.target, seen.read)):
        heads = [seen.weights(kind, 0, head) for head in range(seen.heads)]
        mean = seen.weights(kind, 0)
        check(f"{kind}: a row a query, a column a key", len(mean) == len(rows) and all(len(r) == len(columns) for r in mean))
        check(f"{kind}: rows sum to 1", all(abs(sum(row) - 1) < 1e-4 for row in mean))
        check(f"{kind}: the mean is that of the heads", all(
            math.isclose(mean[i][j], sum(head[i][j] for head in heads) / seen.heads, abs_tol=1e-5)
            for i in range(len(rows)) for j in range(len(columns))))
    check("-1 is the last layer", [list(r) for r in seen.weights()] == [list(r) for r in seen.weights("cross", seen.decoder_layers - 1)])
    check("numpy's arrays, if it is there", (type(mean).__module__ == "numpy") == (qkv.numpy is not None))
    given = model.attention(TEXT, "jane visite")
    check("a given translation's attention", given.target == ["▁jane", "▁visite", "</s>"] and given.read[0] == "<pad>")

    refused("an unknown option", qkv.Error, "bean", lambda: model.set(bean=5))
    refused("a value out of range", qkv.Error, "from 1 to 64", lambda: model.set(beam=0))
    refused("a list of expressions", TypeError, "protect is a str, not list",
            lambda: model.set(protect=["africa", "jane"]))
    refused("a number for a text", TypeError, "", lambda: model.translate(5))
    refused("bytes for a text", TypeError, "list of str", lambda: model.translate(b"x"))
    refused("None in a list", TypeError, "NoneType", lambda: model.translate([TEXT, None]))
    refused("a NUL", ValueError, "NUL", lambda: model.translate("a\0b"))
    refused("half a character", UnicodeEncodeError, "", lambda: model.translate("\ud800"))
    refused("fewer beginnings", ValueError, "2 texts", lambda: model.translate([TEXT] * 2, ["jane"]))
    refused("a beginning for a list", TypeError, "list of str", lambda: model.translate([TEXT], "jane"))
    refused("a score without a translation", TypeError, "NoneType", lambda: model.score(TEXT, None))
    refused("a text too long to score", qkv.Error, "translation 1 has", lambda: model.score(TEXT, "jane " * 500))
    refused("no such kind", qkv.Error, "encoder, decoder, cross", lambda: seen.weights("x"))
    refused("no such layer", qkv.Error, "0 to", lambda: seen.weights("cross", 99))
    refused("no such head", qkv.Error, "0 to", lambda: seen.weights(head=-1))
    refused("a text for a layer", TypeError, "", lambda: seen.weights("cross", "a"))
    refused("the attention of two sentences", qkv.Error, "give one of them, and its part of the text",
            lambda: model.attention("jane sees her. she is tired."))
    refused("the attention of nothing", qkv.Error, "0 tokens", lambda: model.attention(""))
    refused("a number for a translation", TypeError, "int", lambda: model.attention(TEXT, 5))

    several = []
    threads = [threading.Thread(target=lambda: several.append(model.translate(TEXT))) for _ in range(8)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    check("threads can share a model", several == [FRENCH] * 8)
    other, alive = model.translator(), []
    handle, use = weakref.ref(other._translator), other._use
    other._use = lambda *arguments: (use(*arguments), other.close(), alive.append(handle() is not None))[0]
    check("a model that is closed while it translates", other.translate(TEXT) == FRENCH and alive == [True] and not handle())
    sys.stdout.flush()
    model._lock.acquire()  # as by a thread that translates, which fork() does not copy
    child = os.fork()
    if not child:
        signal.alarm(100)
        refused("a model from before a fork", qkv.Error, "before a fork", lambda: model.translate(TEXT))
        own = qkv.Model(path, threads=2)
        model.close()
        check("is replaced in the new process", own.translate(TEXT) == FRENCH)
        sys.stdout.flush()
        os._exit(failed)
    failed |= os.waitpid(child, 0)[1] != 0
    model._lock.release()

for name, call in (("translate", lambda: model.translate(TEXT)), ("score", lambda: model.score(TEXT, FRENCH)),
                   ("attention", lambda: model.attention(TEXT)), ("set", lambda: model.set(beam=2))):
    refused(f"{name} after close", qkv.Error, "the model is closed", call)
model.close()
check("an attention outlives its model", len(seen.weights()) == len(seen.target))
refused("no such model", qkv.Error, "no model at '/no/such'", lambda: qkv.Model("/no/such"))
refused("no model where the path is not UTF-8", qkv.Error, "no model at '/no/such", lambda: qkv.Model("/no/such\udcff"))
refused("a NUL in a path", ValueError, "a path has no NUL", lambda: qkv.Model("/no/such\0"))
refused("None for a path", TypeError, "", lambda: qkv.Model(None))
refused("too many threads", qkv.Error, "1 to 1024", lambda: qkv.Model(path, threads=10**6))
refused("a text for a number", TypeError, "", lambda: qkv.Model(path, threads="x"))
sys.exit(failed)
