/* view.c -- pictures, pages, tables, links and explanations; see view.h. */
#include "commands/translate/view.h"

#include <stdlib.h>
#include <string.h>

#include "commands/command.h"
#include "data/words.h"
#include "explain/explain.h"
#include "explain/page.h"
#include "explain/picture.h"

bool view_needs_words(const View *view)
{
    return view->request->align.align || view->request->align.tsv;
}

bool view_open(View *view, Error *error)
{
    const Request *r = view->request;
    const ModelConfig *config = &view->bundle->model.config;
    const char *model = r->model.item[0];
    view->choice = view->drawn = r->choice;
    return choice_check(&view->choice, config, error) &&
           (!r->attention || align_known_best(&view->drawn, model, config, error)) &&
           (!r->align.align || aligner_create(&view->aligner, view->bundle, model, &r->align,
                                              &view->choice, error)) &&
           align_settle_best(&view->choice,
                             r->explain && view->choice.layer < 0 &&
                                 view->choice.head == CHOICE_NONE,
                             model, config, error) &&
           (!r->align.tsv || table_open(&view->table, r->align.tsv, error));
}

bool view_close(View *view, Error *error)
{
    aligner_free(&view->aligner);
    return table_close(&view->table, error);
}

/* "out.png" for a single text; "out-3.png" for the third of several. */
static void picture_path(char *path, size_t size, const Request *r, long long number)
{
    const char *name = r->attention;
    int stem = (int)(strrchr(name, '.') - name);
    if (r->texts.count == 1) snprintf(path, size, "%s", name);
    else snprintf(path, size, "%.*s-%lld%s", stem, name, number, name + stem);
}

static bool draw(View *view, const IdLines *lines, int s, const Hypothesis *best,
                 long long number, Error *error)
{
    char path[4200];
    const Request *r = view->request;
    const SentencePair pair = {lines->ids.id + lines->start[s], best->id,
                               lines->start[s + 1] - lines->start[s], best->length,
                               r->given != NULL};
    picture_path(path, sizeof path, r, number);
    if (!(request_wants_page(r) ? page_attention : picture_attention)(
            path, &view->bundle->model, &view->bundle->vocabulary, r->model.item[0], &pair,
            &view->drawn, &r->picture, error))
        return false;
    if (view->news) fprintf(view->news, "%s: drew %s\n", command_name(), path);
    return true;
}

bool view_show(View *view, const IdLines *lines, int s, const Hypothesis *best,
               long long number, Error *error)
{
    const Request *r = view->request;
    return (!r->attention || draw(view, lines, s, best, number, error)) &&
           (!r->explain ||
            explain_print(view->out, &view->bundle->model, &view->bundle->vocabulary,
                          &view->choice, r->word, lines->ids.id + lines->start[s],
                          lines->start[s + 1] - lines->start[s], best->id, best->length,
                          error));
}

/* The links of a pair that was looked at, as text. */
static bool find_links(View *view, char **links, const Snapshot *snapshot,
                       const AlignPair *pair, Error *error)
{
    size_t size;
    if (!aligner_link(&view->aligner, snapshot, pair, error)) return false;
    FILE *text = open_memstream(links, &size);
    if (text) links_print(text, &view->aligner.links);
    return (text && fclose(text) == 0) || error_set(error, "not enough memory to align words");
}

bool view_look(View *view, char **links, const IdLines *lines, int s,
               const Hypothesis *translation, long long number, Error *error)
{
    *links = NULL;
    if (!view_needs_words(view)) return true;
    const Bundle *bundle = view->bundle;
    int words, *word = malloc((size_t)translation->length * sizeof *word);
    if (!word)
        return error_set(error, "not enough memory to align %d words", translation->length);
    int first = lines->start[s];
    AlignPair pair = {lines->ids.id + first,       translation->id,
                      lines->word + first,         word,
                      lines->start[s + 1] - first, translation->length};
    Snapshot *snapshot =
        snapshot_open(&bundle->model, pair.source, pair.n, pair.target, pair.m, error);
    bool good =
        snapshot &&
        words_of_ids(word, &words, bundle->vocabulary.tokenizer[TARGET], pair.target,
                     pair.m - 1, error) &&
        (!view->request->align.align || find_links(view, links, snapshot, &pair, error)) &&
        (!view->request->align.tsv ||
         table_add(&view->table, snapshot, &bundle->vocabulary, &bundle->model.config,
                   &view->choice, number, pair.source, pair.target, error));
    snapshot_close(snapshot);
    free(word);
    return good;
}
