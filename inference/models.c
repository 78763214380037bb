/* models.c -- loads the models and compares their vocabularies; see models.h. */
#include "inference/models.h"

#include <string.h>

static bool same_vocabulary(const Vocabulary *a, const Vocabulary *b)
{
    for (int side = 0; side < SIDES; side++) {
        size_t size, other;
        const unsigned char *x = vocabulary_model(a, (CorpusSide)side, &size);
        const unsigned char *y = vocabulary_model(b, (CorpusSide)side, &other);
        if (size != other || memcmp(x, y, size)) return false;
    }
    return true;
}

bool models_load(Models *models, const StringList *paths, bool int8, Error *error)
{
    *models = (Models){0};
    for (int m = 0; m < paths->count; m++) {
        Bundle *bundle = &models->bundle[m];
        if (m == MAX_MODELS)
            return error_set(error, "more than %d models cannot translate together",
                             MAX_MODELS);
        if (!bundle_load(bundle, paths->item[m], error) || !bundle_prepare(bundle, int8, error))
            return false;
        if (!same_vocabulary(&models->bundle[0].vocabulary, &bundle->vocabulary))
            return error_set(error,
                             "'%s' and '%s' have different tokenizers: models that "
                             "translate together must have one vocabulary",
                             paths->item[0], paths->item[m]);
        if (!ensemble_add(&models->ensemble, &bundle->model, error))
            return error_prefix(error, "'%s'", paths->item[m]);
    }
    models->bundle[0].max_length = ensemble_config(&models->ensemble).max_length;
    return true;
}

void models_free(Models *models)
{
    for (int m = 0; m < MAX_MODELS; m++) bundle_free(&models->bundle[m]);
    *models = (Models){0};
}
