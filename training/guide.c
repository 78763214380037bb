/* guide.c -- the links that guide a head of attention; see guide.h. */
#include "training/guide.h"

bool guide_end_round(Guide *g, bool last, Error *error)
{
    size_t count = g->cells + (size_t)(g->sources + g->targets);
    real *old = g->count;
    g->count = g->next, g->next = NULL;
    if (last) return free(old), true;
    if (old) memset(old, 0, count * sizeof *old);
    g->next = old ? old : calloc(count, sizeof *g->next);
    return g->next || error_memory(error, "to estimate links");
}

bool guide_create(Guide *g, int sources, int targets, int longest, size_t cells, Error *error)
{
    size_t pairs = (size_t)sources * (size_t)targets;
    *g = (Guide){sources, targets, longest, .cells = pairs < cells ? pairs : cells};
    g->P = malloc((size_t)longest * sizeof *g->P);
    return g->P ? guide_end_round(g, false, error) : error_memory(error, "to estimate links");
}

void guide_free(Guide *g)
{
    free(g->count);
    free(g->next);
    free(g->P);
}

static size_t cell(const Guide *g, int source, int target)
{
    return ((size_t)source * (size_t)g->targets + (size_t)target) % g->cells;
}

static real translation(const Guide *g, int source, int target)
{
    if (!g->count) return 1;
    const real *sources = g->count + g->cells, *targets = sources + g->sources;
    double s = (double)sources[source], t = (double)targets[target];
    double c = fmin((double)g->count[cell(g, source, target)], fmin(s, t));  // others share it
    return c > 0 ? (real)(c / sqrt(s * t)) : 0;
}

/* P [n] (=) w · P_ij of target token i. */
static void link_token(real *P, const Guide *g, const int *source, int n, int target, int i,
                       int m, real w)
{
    real sum = (real)0.005, at = ((real)i + (real)0.5) / (real)m;
    for (int j = 0; j < n; j++) {
        real off = at - ((real)j + (real)0.5) / (real)n;
        P[j] = translation(g, source[j], target) * (real)exp(-2 * fabs(off));
        sum += P[j];
    }
    for (int j = 0; j < n; j++) P[j] *= w / sum;
}

void guide_count(Guide *g, const PairIds *pair)
{
    real *sources = g->next + g->cells, *targets = sources + g->sources;
    real *P = g->P;
    const int *id = pair->id[0], *to = pair->id[1];
    int n = pair->length[0] - 1, m = pair->length[1] - 1;
    for (int i = 0; i < m; i++) {
        link_token(P, g, id, n, to[i], i, m, 1);
        for (int j = 0; j < n; j++) {
            g->next[cell(g, id[j], to[i])] += P[j];
            sources[id[j]] += P[j];
            targets[to[i]] += P[j];
        }
    }
}

void guide_link(int *link, Guide *g, const PairIds *pair, real least)
{
    real *P = g->P;
    int n = pair->length[0] - 1, m = pair->length[1] - 1;
    for (int i = 0; i < m; i++) {
        real most = least;
        link_token(P, g, pair->id[0], n, pair->id[1][i], i, m, 1);
        link[i] = -1;
        for (int j = 0; j < n; j++)
            if (P[j] > most) most = P[j], link[i] = j;
    }
}

void guide_fill(const Attention *a, const Guide *g, real w)
{
    size_t H = (size_t)a->config->heads;
    for (size_t k = 0; k < a->numbers / H; k++) a->guide[k] = 0;
    for (int s = 0; s < a->keys->sentences; s++) {
        int n = packed_length(a->keys, s), m = packed_length(a->queries, s);
        real *P = a->guide + a->map[s] / H;
        if (a->map[s] == a->map[s + 1]) continue;
        for (int i = 0; i < m - 1; i++, P += head_width(n))
            link_token(P, g, a->keys->id + a->keys->start[s], n - 1,
                       a->queries->id[a->queries->start[s] + i], i, m - 1, w);
    }
}
