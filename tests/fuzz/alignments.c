/* alignments.c -- fuzzes gold alignments, "0-0 1?2", one a line, and the whole input as the
 * alignment.json beside a model. */
#include "tests/fixtures/fuzz-model.h"

#include "commands/translate/aligner.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[TEMPORARY_SIZE + 32], *text = strndup((const char *)data, size), *rest = text;
    SavedAlignment saved, again;
    const ModelConfig *model = &fuzz_model()->model.config;
    const char *config = fuzz_model()->config;
    Links links = {0}, before = {0};
    AlignError counts = {0};
    for (char *line; (line = strsep(&rest, "\n"));) {
        if (!accepted(links_read(&links, line, "gold:1", 5, 7, &error))) continue;
        for (int k = 0; k < links.count; k++)
            assert(links.link[k].source < 5 && links.link[k].target < 7);
        align_compare(&counts, &before, &links);
        assert(!(align_error(&counts) < 0) && !(align_recall(&counts) > 1));
        Links swap = before;
        before = links, links = swap;
    }
    fuzz_file(path, "alignment.json", data, size);
    if (accepted(alignment_load(&saved, fuzz_folder, model, config, &error)))
        assert(saved.found && alignment_save(&saved, fuzz_folder, &error) &&
               alignment_load(&again, fuzz_folder, model, config, &error) &&
               again.best.head == saved.best.head && again.best.layer == saved.best.layer);
    links_free(&links);
    links_free(&before);
    free(text);
    return 0;
}
