/* progress.c -- fuzzes the progress of a run, a text in its checkpoint. */
#include "tests/fixtures/fuzz.h"

#include "training/progress.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t length;
    char *text = fuzz_part(&length, &data, &size);
    Progress progress = progress_start(), again = progress;
    if (accepted(progress_from_json(&progress, text, "it", &error))) {
        char *first = progress_to_json(&progress), *second;
        assert(first && accepted(progress_from_json(&again, first, "it", &error)));
        assert((second = progress_to_json(&again)) && !strcmp(first, second));
        free(first);
        free(second);
    }
    free(text);
    return 0;
}
