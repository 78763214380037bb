/* kind.c -- which kind of processor this is; see kind.h. */
#include "kernels/kind.h"

#include "base/real.h"
#include "kernels/amx.h"
#include "kernels/openblas.h"

/* The table that the Makefile writes. It is missing where there is one kind only. */
typedef void Function(void);
extern Function *const kind_table[] __attribute__((weak));  // [kinds][kind_functions]
extern Function *kind_chosen[] __attribute__((weak));       // [kind_functions]
extern const size_t kind_functions __attribute__((weak));

enum { AVX512 = 2, AMX };  // the latter has the functions of the former
static const char *const names[] = {"plain", "avx2", "avx512", "amx"};
static const char OPENBLAS[] = "openblas";
static int current;
static bool wanted, named, multiplies;  // OpenBLAS

int kind_count(void)
{
    return kind_table ? sizeof names / sizeof *names : 1;
}

bool kind_runs(int kind)
{
#if defined __x86_64__
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return kind == 0 || (avx2 && (kind == 1 || (avx512 && (kind == AVX512 || amx_exists()))));
#else
    return kind == 0;
#endif
}

void kind_use(int kind)
{
    current = kind;
    if (kind_table)
        memcpy(kind_chosen, kind_table + (size_t)at_most(kind, AVX512) * kind_functions,
               kind_functions * sizeof(Function *));
}

bool kind_has_amx(void)
{
    return current == AMX && amx_allowed();
}

/* The kind of that name, or -1. */
static int find(const char *name)
{
    int kind = kind_count() - 1;
    while (kind >= 0 && strcmp(name, names[kind])) kind--;
    return kind;
}

/* What QKV_KERNEL names, or NULL. */
static const char *named_kind(void)
{
    const char *name = getenv("QKV_KERNEL");
    return name && *name ? name : NULL;
}

__attribute__((constructor)) static void choose(void)
{
    const char *name = named_kind();
    int kind = name ? find(name) : -1;
    if (kind < 0 || !kind_runs(kind))
        for (kind = kind_count() - 1; !kind_runs(kind);) kind--;
    kind_use(kind);
    named = HAS_OPENBLAS && name && !strcmp(name, OPENBLAS);
    wanted = named || (HAS_OPENBLAS && !name && kind_count() == 1);
}

bool kind_has_openblas(void)
{
    return multiplies;
}

bool kind_use_openblas(bool on, Error *error)
{
    wanted = on;
    multiplies = on && openblas_load(error);
    return multiplies == on;
}

void kind_describe(char name[KIND_NAME])
{
    snprintf(name, KIND_NAME, "%s%s%s", names[at_most(current, AVX512)],
             multiplies ? "-openblas-" : "", multiplies ? openblas_name() : "");
}

bool kind_check(Error *error)
{
    const char *name = named_kind();
    int kind = name && !named ? find(name) : 0;
    if (kind < 0)
        return error_set(error, "QKV_KERNEL is 'plain'%s%s, not '%s'",
                         kind_count() > 1 ? ", 'avx2', 'avx512', 'amx'" : "",
                         HAS_OPENBLAS ? " or 'openblas'" : "", name);
    if (!kind_runs(kind))
        return error_set(
            error, "this processor does not have the instructions of QKV_KERNEL '%s'", name);
    if (!wanted || kind_use_openblas(true, error)) return true;
    return !(wanted = named);
}
