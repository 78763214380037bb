/* tokenizer.c -- fuzzes SentencePiece models: those of checkpoints, and those of --tokenizer-model,
 * which are rewritten first. A model that is accepted encodes texts, and decodes what it has
 * made of them. */
#include "base/utf8.h"
#include "data/text.h"
#include "data/vocabulary.h"

#include "tests/fixtures/fuzz.h"

enum { LONG = 5000 };  // bytes; more than one part

static void use(const Tokenizer *tokenizer, const char *text, size_t length)
{
    Ids ids = {0}, begin = {0};
    char *decoded = NULL;
    if (accepted(tokenizer_encode_begins(tokenizer, &ids, &begin, text, length, &error))) {
        assert(begin.count == ids.count);
        for (size_t i = 0; i < ids.count; i++)
            assert(ids.id[i] >= 0 && ids.id[i] < tokenizer_vocab_size(tokenizer) - 1 &&
                   (size_t)begin.id[i] <= length && tokenizer_label(tokenizer, ids.id[i]));
        if (accepted(tokenizer_decode(tokenizer, &decoded, ids.id, ids.count, &error)))
            assert(utf8_is_valid(decoded, strlen(decoded), NULL));
    }
    free(decoded);
    free(ids.id);
    free(begin.id);
}

static void load(const void *model, size_t size)
{
    static char all[LONG + 1];
    static const char unbroken[] = "a\xe6\x97\xa5";
    static const char some[] =
        "Ein alter Mann, l'\xc3\xa9t\xc3\xa9 \xe6\x97\xa5\xf0\x9f\x98\x80 ab ";
    Tokenizer *tokenizer = tokenizer_load(model, size, &error);
    if (!accepted(tokenizer)) return;
    use(tokenizer, some, strlen(some));
    const char *part = size % 16 ? some : unbroken;
    for (size_t i = 0, length = strlen(part); i < LONG; i++) all[i] = part[i % length];
    if (size % 8 == 0) use(tokenizer, all, LONG - LONG % strlen(part));
    size_t bad = 0;
    use(tokenizer, model, utf8_is_valid(model, size, &bad) ? size : bad);
    tokenizer_free(tokenizer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char file[TEMPORARY_SIZE + 32];
    const char *const path[SIDES] = {NULL, fuzz_file(file, "model", data, size)};
    Vocabulary vocabulary;
    load(data, size);
    if (accepted(vocabulary_read(&vocabulary, path, &error)))
        load(vocabulary.model[TARGET], vocabulary.size[TARGET]);
    vocabulary_free(&vocabulary);
    return 0;
}
