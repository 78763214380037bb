/* model.c -- a model, and what the library's functions share; see qkv.h and internal.h. */
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "data/text.h"
#include "library/internal.h"

_Static_assert(sizeof(QkvError) == sizeof(Error), "library_fail copies one to the other");

locale_t library_enter(void)
{
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

void library_leave(locale_t before)
{
    locale_t ours = uselocale(before);
    if (ours != LC_GLOBAL_LOCALE) freelocale(ours);
}

void *library_fail(QkvError *to, const Error *error)
{
    if (to) memcpy(to->text, error->text, sizeof to->text);
    return NULL;
}

bool library_given(const void *argument, const char *what, Error *error)
{
    return argument || error_set(error, "%s is NULL", what);
}

bool library_encode(const Bundle *bundle, IdLines *lines, CorpusSide side, const char *text,
                    const char *what, int number, size_t *cut, Error *error)
{
    if (!text) return error_set(error, "%s %d is NULL", what, number);
    size_t length = strlen(text);
    if (!text_is_utf8(text, length, NULL))
        return error_set(error, "%s %d is not valid UTF-8", what, number);
    return bundle_encode(bundle, side, lines, text, length, cut, error) ||
           error_prefix(error, "%s %d", what, number);
}

const char *qkv_version(void)
{
    return QKV_VERSION;
}

/* Loads the file `path`, or bytes [size] if path is NULL. */
static QkvModel *load(const char *path, const void *bytes, size_t size, QkvPrecision precision,
                      QkvError *to)
{
    Error error = {"not enough memory for a model"};
    if (precision != QKV_FLOAT && precision != QKV_INT8)
        return error_set(&error, "there is no precision %d", (int)precision),
               library_fail(to, &error);
    locale_t before = library_enter();
    QkvModel *model = calloc(1, sizeof *model);
    bool int8 = precision == QKV_INT8;
    bool good =
        model && (path ? bundle_load(&model->bundle, path, int8, NULL, &error)
                       : bundle_load_bytes(&model->bundle, bytes, size, "model", int8, &error));
    library_leave(before);
    if (good) return model;
    qkv_model_free(model);
    return library_fail(to, &error);
}

QkvModel *qkv_model_load(const char *path, QkvPrecision precision, QkvError *error)
{
    return load(path ? path : "", NULL, 0, precision, error);
}

QkvModel *qkv_model_read(const void *bytes, size_t size, QkvPrecision precision,
                         QkvError *error)
{
    return load(NULL, bytes ? bytes : "", bytes ? size : 0, precision, error);
}

int qkv_model_max_length(const QkvModel *model)
{
    return model ? model->bundle.max_length : 0;
}

void qkv_model_free(QkvModel *model)
{
    if (model) bundle_free(&model->bundle);
    free(model);
}
