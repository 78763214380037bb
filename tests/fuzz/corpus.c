/* corpus.c -- fuzzes the files of a corpus: the first byte says whether invalid text is replaced (1),
 * whether it is a table or TMX (2), and by the rest how many pairs are held out; then follow the file
 * and, for two files, 0x1E and the other. What is read is encoded and cut into batches. */
#include "data/batches.h"
#include "data/corpusreader.h"
#include "data/text.h"
#include "tests/fixtures/fuzz-model.h"

static void use(CorpusText *text, CorpusReport *report, size_t hold_out)
{
    Tokenizer *const *tokenizer = fuzz_model()->vocabulary.tokenizer;
    const Tokenizer *const both[] = {tokenizer[SOURCE], tokenizer[TARGET]};
    CorpusText other;
    Corpus corpus, held_out;
    CorpusReport unused = {0};
    Batches batches;
    size_t pairs = text->pairs, seen;
    assert(report->kept == pairs && report->read >= pairs);
    if (!accepted(corpus_split(&other, text, report, hold_out, 1, &error))) return;
    assert(other.pairs == hold_out && text->pairs + hold_out + report->common == pairs);
    bool some = accepted(corpus_encode(&corpus, text, report, both, NULL, 5, false, &error));
    bool more =
        accepted(corpus_encode(&held_out, &other, &unused, both, NULL, 5, true, &error));
    if (some && more)
        assert(corpus_overlap(&seen, &held_out, &corpus, &error) && seen <= held_out.pairs);
    if (some) {
        assert(batches_init(&batches, &corpus, 1, 12, &error) &&
               batches_updates(&batches, 0) <= corpus.pairs);
        batches_free(&batches);
    }
    corpus_free(&corpus);
    corpus_free(&held_out);
    corpus_text_free(&other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size) return 0;
    char one[TEMPORARY_SIZE + 32], two[TEMPORARY_SIZE + 32];
    unsigned flags = *data++;
    const uint8_t *end = --size && !(flags & 2) ? memrchr(data, 0x1E, size) : NULL;
    size_t first = end ? (size_t)(end - data) : size, second = end ? size - first - 1 : 0;
    char *name[] = {fuzz_file(one, "one", data, first),
                    fuzz_file(two, "two", data + size - second, second)};
    CorpusFile file = {.source = name[0],
                       .target = flags & 2 ? NULL : name[1],
                       .column = {1, 2},
                       .invalid = flags & 1 ? TEXT_REPLACE : TEXT_STOP};
    CorpusFiles files = {&file, 1};
    CorpusText text;
    CorpusReport report;
    if (accepted(corpus_read(&text, &report, &files, &error)))
        use(&text, &report, 1 + (flags >> 2));
    corpus_text_free(&text);
    return 0;
}
