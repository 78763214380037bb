"""qkv.py -- translates with a model of qkv-train and gives its attention weights, by libqkv.so.

    import qkv
    with qkv.Model("checkpoints/toy", beam=5) as model:
        print(model.translate("jane visits africa in september"))
        seen = model.attention("jane visits africa in september")
        print(seen.source, seen.target, seen.weights("cross", layer=-1))

The library is the file that the environment variable QKV_LIBRARY names, or libqkv.so.1 beside this
file, in `lib` of the same installation or in `build` of the project, or one of the system's. What the library refuses is a
qkv.Error with the library's sentence; a wrong type is a TypeError."""
import ctypes.util
import itertools
import os
import threading

try:
    import numpy
except ImportError:
    numpy = None

_SONAME, _KINDS = "libqkv.so.1", ("encoder", "decoder", "cross")

class Error(Exception):
    """What the library refused, in one sentence."""

_P, _B, _I, _S = ctypes.c_void_p, ctypes.c_bool, ctypes.c_int, ctypes.c_size_t
_T, _R = ctypes.c_char_p, ctypes.c_double
_Ts, _Is = ctypes.POINTER(_T), ctypes.POINTER(_I)

def _struct(**fields):
    return type("Struct", (ctypes.Structure,), {"_fields_": list(fields.items())})

_Error = _struct(text=ctypes.c_char * 1024)
_Hypothesis = _struct(text=_T, score=_R, log_probability=_R, tokens=_I, token=_Ts, id=_Is,
                      each=ctypes.POINTER(_R))
_Sentence = _struct(source_begin=_S, source_end=_S, target_begin=_S, target_end=_S, translation=_Hypothesis)
_Translation = _struct(count=_I, hypothesis=ctypes.POINTER(_Hypothesis), cut=_I, sentences=_I,
                       sentence=ctypes.POINTER(_Sentence), limit=_B, doubtful=_B, missing_count=_I, missing=_Ts,
                       unknown_count=_I, unknown=_Ts)
_Translations = _struct(count=_I, sentence=ctypes.POINTER(_Translation))
_Attention = _struct(sources=_I, targets=_I, source=_Ts, target=_Ts, read=_Ts,
                     encoder_layers=_I, decoder_layers=_I, heads=_I)

_here = os.path.dirname(os.path.abspath(__file__))
_near = [os.path.join(_here, folder, _SONAME) for folder in ("", "../../lib", "../build")]
_path = os.environ.get("QKV_LIBRARY") or next(filter(os.path.exists, _near), None) or ctypes.util.find_library("qkv")
if not _path:
    raise ImportError(f"{_SONAME} is not beside {__file__} and not installed: set QKV_LIBRARY to its path")
_lib = ctypes.CDLL(_path)
for _name, _result, *_arguments in (
        ("version", _T), ("model_load", _P, _T, _I, _P), ("model_free", None, _P), ("translator_new", _P, _P, _I, _P),
        ("translator_free", None, _P), ("translator_set", _B, _P, _T, _T, _P),
        ("translate", ctypes.POINTER(_Translations), _P, _P, _P, _I, _P), ("translations_free", None, _P),
        ("score", _B, _P, _P, _P, _P, _I, _P), ("attention", ctypes.POINTER(_Attention), _P, _T, _P, _P),
        ("attention_given", ctypes.POINTER(_Attention), _P, _T, _T, _P), ("attention_free", None, _P),
        ("attention_weights", _B, _P, _P, _I, _I, _I, _P)):
    _function = getattr(_lib, "qkv_" + _name)
    _function.restype, _function.argtypes = _result, _arguments
version = _lib.qkv_version().decode()

def _call(function, *arguments):
    error = _Error()
    try:
        result = function(*arguments, ctypes.byref(error))
    except ctypes.ArgumentError as wrong:
        raise TypeError(str(wrong)) from None
    if not result:
        raise Error(error.text.decode("utf-8", "replace"))
    return result

def _bytes(text, what="a text", encode=str.encode):
    if not isinstance(text, str):
        raise TypeError(f"{what} is a str, not {type(text).__name__}")
    if "\0" in text:
        raise ValueError(f"{what} has no NUL character")
    return encode(text)

def _array(texts, what="a text", count=None, none=False):
    if isinstance(texts, (str, bytes)):
        raise TypeError(f"several texts are a list of str, not {type(texts).__name__}")
    texts = list(texts)
    if count not in (None, len(texts)):
        raise ValueError(f"there are {count} texts, and {len(texts)} times {what}")
    return (_T * len(texts))(*[None if none and text is None else _bytes(text, what) for text in texts])

def _slices(text, places):  # of characters, from the bytes where each begins and ends, in the order of the text
    at = [*itertools.accumulate(len(text[a:b].decode("utf-8", "replace")) for a, b in zip([0] + places, places))]
    return map(slice, at[::2], at[1::2])

class _Handle:
    """A pointer of the library, freed after all that need it (they keep it in `owner`)."""
    def __init__(self, pointer, free, owner=None):
        self.pointer, self.free, self.owner = pointer, free, owner

    def __del__(self):
        self.free(self.pointer)

class Translation(str):
    """The text of a translation, with score, log_probability (nats), tokens, ids, log_probabilities (of each token) and
    n_best (a list, itself first).
    sentences: those of the text, each a Translation with source and target, slices of the text and of its translation.
    What may be wrong: cut (the tokens of a sentence that was too long and has been cut, otherwise 0), limit (a sentence
    was ended at its longest), doubtful (its score is low), missing (numbers, names, … that it lacks), unknown (words
    that the model does not know)."""

    @classmethod
    def _from(cls, h):
        self = cls(h.text.decode("utf-8", "replace"))
        self.score, self.log_probability = h.score, h.log_probability
        self.tokens, self.ids = [t.decode() for t in h.token[:h.tokens]], h.id[:h.tokens]
        self.log_probabilities, self.n_best, self.sentences = h.each[:h.tokens], [self], []
        return self

    @classmethod
    def _best(cls, t, source):
        n_best, found = [cls._from(h) for h in t.hypothesis[:t.count]], t.sentence[:t.sentences]
        self = n_best[0]
        sources = _slices(source, [at for s in found for at in (s.source_begin, s.source_end)])
        targets = _slices(t.hypothesis[0].text, [at for s in found for at in (s.target_begin, s.target_end)])
        for s, source, target in zip(found, sources, targets):
            self.sentences.append(cls._from(s.translation))
            self.sentences[-1].source, self.sentences[-1].target = source, target
        for each in n_best:
            each.n_best, each.cut, each.limit, each.doubtful = n_best, t.cut, t.limit, t.doubtful
            each.missing = [x.decode() for x in t.missing[:t.missing_count]]
            each.unknown = [x.decode() for x in t.unknown[:t.unknown_count]]
        return self

class Attention:
    """The attention of a text and a translation: the tokens `source`, `target` and `read` (the decoder's
    input), encoder_layers, decoder_layers, heads, and the weights. It can be used after the model's close()."""

    def __init__(self, handle):
        self._handle, a = handle, handle.pointer.contents
        self.source, self.target, self.read = ([t.decode() for t in tokens] for tokens in (
            a.source[:a.sources], a.target[:a.targets], a.read[:a.targets]))
        self.encoder_layers, self.decoder_layers, self.heads = a.encoder_layers, a.decoder_layers, a.heads

    def weights(self, kind="cross", layer=-1, head=None):
        """A row for each query, a column for each key, as a numpy array, or as lists without numpy. kind: "encoder",
        "decoder" or "cross"; layer: from 0, or -1 for the last; head: from 0, or None for the mean of all."""
        if kind not in _KINDS:
            raise Error(f"there is no attention of kind {kind!r}: there are {', '.join(_KINDS)}")
        if head is not None and head < 0:
            raise Error(f"there is no head {head}: there are 0 to {self.heads - 1}")
        rows = len(self.source if kind == "encoder" else self.target)
        columns = len(self.target if kind == "decoder" else self.source)
        out = (ctypes.c_float * columns * rows)()
        if layer == -1:
            layer += self.encoder_layers if kind == "encoder" else self.decoder_layers
        _call(_lib.qkv_attention_weights, out, self._handle.pointer, _KINDS.index(kind), layer,
              -1 if head is None else head)
        return numpy.array(out) if numpy else [list(row) for row in out]

class Model:
    """A model, and a search with the options of qkv-translate --help under Texts and Searching: beam=5, length_penalty=0.6.
    path: a checkpoint, or the folder of a run; threads: 0 for one on each processor."""

    def __init__(self, path, int8=False, threads=0, **options):
        self._translator, self._lock, self._process = None, threading.Lock(), os.getpid()
        path = _bytes(os.fsdecode(path), "a path", os.fsencode)  # also one that is not UTF-8
        model = _Handle(_call(_lib.qkv_model_load, path, bool(int8)), _lib.qkv_model_free)
        self._start(model, threads, options)

    def _start(self, model, threads, options):
        self._translator = _Handle(_call(_lib.qkv_translator_new, model.pointer, threads), _lib.qkv_translator_free, model)
        self.set(**options)

    def translator(self, threads=1, **options):
        """Another Model with the same weights and a search of its own: one for each thread, which then never waits."""
        other = object.__new__(Model)
        other._translator, other._lock, other._process = None, threading.Lock(), os.getpid()
        other._start(self._open().owner, threads, options)
        return other

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Frees the model as soon as no attention needs it."""
        self._translator = None

    def _open(self):
        if not self._translator:
            raise Error("the model is closed")
        if self._process != os.getpid():
            raise Error("the model was loaded before a fork: load it in the new process")
        return self._translator

    def _use(self, function, *arguments):
        translator = self._open()  # lives until the call returns; first, as fork() may have copied a lock that is held
        with self._lock:  # one thread at a time
            return _call(function, translator.pointer, *arguments)

    def set(self, **options):
        """Sets options of the search; `_` stands for `-` in a name."""
        for name, value in options.items():
            value = str(value).lower() if isinstance(value, bool) else value if isinstance(value, (list, tuple, bytes)) else str(value)
            self._use(_lib.qkv_translator_set, name.replace("_", "-").encode(), _bytes(value, name))

    def translate(self, texts, beginnings=None):
        """The Translation of a str, or a list of them for a list of str. beginnings: how they must begin, None for any way."""
        if isinstance(texts, str):
            return self.translate([texts], None if beginnings is None else [beginnings])[0]
        source = _array(texts)
        begin = None if beginnings is None else _array(beginnings, "a beginning", len(source), none=True)
        translator = self._open()  # has the tokens, though another thread may close the model
        found = _Handle(self._use(_lib.qkv_translate, source, begin, len(source)), _lib.qkv_translations_free, translator)
        return [Translation._best(s, text) for s, text in zip(found.pointer.contents.sentence[:len(source)], source)]

    def score(self, texts, translations):
        """ln p(translation | text) of a pair of str, or a list of them for two lists."""
        if isinstance(texts, str):
            return self.score([texts], [translations])[0]
        source = _array(texts)
        target, out = _array(translations, "a translation", len(source)), (_R * len(source))()
        self._use(lambda translator, *rest: _lib.qkv_score(out, translator, *rest), source, target, len(source))
        return list(out)

    def attention(self, text, translation=None):
        """The Attention of a text of one sentence and a translation: a Translation, a str, or None for the model's own."""
        source, translator = _bytes(text), self._open()
        if translation is None:
            translation = self.translate(text)
        if isinstance(translation, Translation):
            count = len(translation.ids)
            given = _Hypothesis(tokens=count, id=(_I * count)(*translation.ids))
            seen = _call(_lib.qkv_attention, translator.owner.pointer, source, ctypes.byref(given))
        else:
            seen = _call(_lib.qkv_attention_given, translator.owner.pointer, source, _bytes(translation, "a translation"))
        return Attention(_Handle(seen, _lib.qkv_attention_free, translator))
