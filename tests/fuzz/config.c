/* config.c -- fuzzes config.json, as --config reads it: what is accepted is written and read
 * again. */
#include "commands/train/settings.h"

#include "tests/fixtures/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static Settings settings, again;
    char path[TEMPORARY_SIZE + 32];
    char *argv[] = {"train", "--config", fuzz_file(path, "config.json", data, size), NULL};
    if (accepted(settings_read(&settings, 3, argv, &error))) {
        char *text = options_to_json(settings.groups, SETTINGS_GROUPS, false), *second;
        settings_defaults(&again);
        char changed[CHANGED_TEXT];
        assert(text && settings_agree(&settings, text, "it", &error));
        settings_changed(changed, &settings);
        assert(!*changed);
        assert(options_from_json(again.groups, SETTINGS_GROUPS, text, "it", false, &error));
        second = options_to_json(again.groups, SETTINGS_GROUPS, false);
        assert(second && !strcmp(text, second));
        settings_free(&again);
        free(text);
        free(second);
    }
    settings_free(&settings);
    return 0;
}
