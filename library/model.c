/* model.c -- the library's face: a model; see qkv.h. */
#include <stdlib.h>

#include "base/options.h"
#include "library/border.h"

const char *qkv_version(void)
{
    return QKV_VERSION;
}

static QkvModel *load(const char *path, const void *bytes, size_t size, QkvPrecision precision,
                      QkvError *to)
{
    Error error = {""};
    locale_t before = border_enter();
    QkvModel *model = calloc(1, sizeof *model);
    bool good = model ? path ? bundle_load(&model->bundle, path, &error)
                             : bundle_load_bytes(&model->bundle, bytes, size, "model", &error)
                      : error_set(&error, "not enough memory for a model");
    if (good && !bundle_prepare(&model->bundle, precision == QKV_INT8, &error)) {
        bundle_free(&model->bundle);
        good = false;
    }
    border_leave(before);
    if (good) return model;
    free(model);
    return border_refuse(to, &error);
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
    return model->bundle.max_length;
}

void qkv_model_free(QkvModel *model)
{
    if (!model) return;
    bundle_free(&model->bundle);
    free(model);
}
