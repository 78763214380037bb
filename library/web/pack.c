/* pack.c -- pack MODEL.safetensors: prints a model for the page that also trains it, whose weights have 18 bits
 * (commands/translate/webpage.h). */
#include "commands/translate/webpage.h"

int main(int argc, char **argv)
{
    Error error;
    Bundle bundle;
    if (argc != 2 || !bundle_load(&bundle, argv[1], BUNDLE_ROWS, NULL, &error) ||
        !webpage_put_model(stdout, &bundle, 18, &error))
        return fprintf(stderr, "pack: %s\n", argc == 2 ? error.text : "MODEL"), 1;
    bundle_free(&bundle);
    return fclose(stdout);
}
