/* vocabulary.c -- one vocabulary for both sides, or one for each; see vocabulary.h. */
#include "data/vocabulary.h"

#include "base/file.h"
#include "data/sentencepiece.h"

static const char *const SIDE[SIDES] = {"source", "target"};

bool vocabulary_is_joint(const Vocabulary *vocabulary)
{
    return !vocabulary->model[SOURCE];
}

const unsigned char *vocabulary_model(const Vocabulary *vocabulary, CorpusSide side,
                                      size_t *size)
{
    if (vocabulary_is_joint(vocabulary)) side = TARGET;
    *size = vocabulary->size[side];
    return vocabulary->model[side];
}

bool vocabulary_learn(Vocabulary *vocabulary, const CorpusText *text,
                      const TokenizerSettings *settings, bool joint, Error *error)
{
    const Sentences sides[SIDES] = {corpus_sentences(text, SOURCE),
                                    corpus_sentences(text, TARGET)};
    *vocabulary = (Vocabulary){0};
    for (int side = joint ? TARGET : SOURCE; side < SIDES; side++) {
        if (!tokenizer_train(&vocabulary->model[side], &vocabulary->size[side],
                             joint ? sides : &sides[side], joint ? SIDES : 1, settings, error))
            return !joint && error_prefix(error, "%s side", SIDE[side]);
    }
    return true;
}

bool vocabulary_read(Vocabulary *vocabulary, const char *const path[SIDES], Error *error)
{
    bool good = true;
    *vocabulary = (Vocabulary){0};
    for (int side = 0; good && side < SIDES; side++) {
        size_t size;
        if (!path[side]) continue;
        char *bytes = file_read_input(path[side], SENTENCEPIECE_LIMIT, &size, error);
        good = bytes && (tokenizer_adopt(&vocabulary->model[side], &vocabulary->size[side],
                                         bytes, size, NULL, 0, error) ||
                         error_prefix(error, "'%s' is no SentencePiece model that can be used",
                                      path[side]));
        free(bytes);
    }
    return good;
}

bool vocabulary_copy(Vocabulary *vocabulary, const void *const model[SIDES],
                     const size_t size[SIDES], Error *error)
{
    *vocabulary = (Vocabulary){0};
    for (int side = 0; side < SIDES; side++) {
        if (!model[side]) continue;
        vocabulary->model[side] = malloc(size[side] ? size[side] : 1);
        if (!vocabulary->model[side]) return error_memory(error, "for the tokenizer");
        memcpy(vocabulary->model[side], model[side], size[side]);
        vocabulary->size[side] = size[side];
    }
    return true;
}

bool vocabulary_load(Vocabulary *vocabulary, Error *error)
{
    bool joint = vocabulary_is_joint(vocabulary);
    for (int side = joint ? TARGET : SOURCE; side < SIDES; side++) {
        vocabulary->tokenizer[side] =
            tokenizer_load(vocabulary->model[side], vocabulary->size[side], error);
        if (!vocabulary->tokenizer[side])
            return !joint && error_prefix(error, "%s side", SIDE[side]);
    }
    if (joint) vocabulary->tokenizer[SOURCE] = vocabulary->tokenizer[TARGET];
    return true;
}

int vocabulary_placeholder(const Vocabulary *vocabulary)
{
    int source = tokenizer_placeholder(vocabulary->tokenizer[SOURCE]);
    return source == tokenizer_placeholder(vocabulary->tokenizer[TARGET]) ? source : 0;
}

bool vocabulary_equal(const Vocabulary *a, const Vocabulary *b)
{
    for (int side = 0; side < SIDES; side++) {
        size_t size, other;
        const unsigned char *x = vocabulary_model(a, (CorpusSide)side, &size);
        const unsigned char *y = vocabulary_model(b, (CorpusSide)side, &other);
        if (size != other || memcmp(x, y, size)) return false;
    }
    return true;
}

void vocabulary_free(Vocabulary *vocabulary)
{
    if (vocabulary->tokenizer[SOURCE] != vocabulary->tokenizer[TARGET])
        tokenizer_free(vocabulary->tokenizer[SOURCE]);
    tokenizer_free(vocabulary->tokenizer[TARGET]);
    for (int side = 0; side < SIDES; side++) free(vocabulary->model[side]);
    *vocabulary = (Vocabulary){0};
}
