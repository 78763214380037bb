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
    Choice *choice = &view->choice;
    SavedAlignment saved = {0};
    *choice = view->drawn = r->choice;
    if (!choice_check(choice, config, error)) return false;
    bool unchosen = choice->layer < 0 && choice->head == CHOICE_NONE;
    bool best = choice->kind == ATTENTION_CROSS &&
                (choice->head == CHOICE_BEST || (r->explain && unchosen));
    if ((r->attention || r->align.align || best) &&
        !alignment_load(&saved, r->model.item[0], config, error))
        return false;
    if (r->align.align && !aligner_create(&view->aligner, &r->align, &saved, choice,
                                          config->decoder_layers, error))
        return false;
    AlignBy head = saved.best_head;
    if (saved.found) view->drawn.known_layer = head.layer, view->drawn.known_head = head.head;
    if (saved.found && best && (choice->layer < 0 || choice->layer == head.layer))
        choice->layer = head.layer, choice->head = head.head;
    return !r->align.tsv || table_open(&view->table, r->align.tsv, error);
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

static bool draw(View *view, const Snapshot *snapshot, long long number, Error *error)
{
    char path[4200];
    const Request *r = view->request;
    const PictureInput input = {snapshot,         &view->bundle->vocabulary,
                                r->model.item[0], &view->drawn,
                                r->picture,       r->given != NULL};
    picture_path(path, sizeof path, r, number);
    if (!(request_wants_page(r) ? page_save : picture_save)(path, &input, error)) return false;
    if (view->news) fprintf(view->news, "%s: drew %s\n", command_name(), path);
    return true;
}

bool view_show(View *view, LazySnapshot *lazy, long long number, Error *error)
{
    const Request *r = view->request;
    if (!r->attention && !r->explain) return true;
    const Snapshot *snapshot = snapshot_get(lazy, error);
    return snapshot && (!r->attention || draw(view, snapshot, number, error)) &&
           (!r->explain || explain_print(view->out, snapshot, &view->bundle->vocabulary,
                                         &view->choice, r->word, error));
}

/* The links of a pair, as text. */
static bool find_links(View *view, char **links, const Snapshot *snapshot,
                       const int *source_word, const int *target_word, Error *error)
{
    size_t size;
    if (!aligner_link(&view->aligner, snapshot, source_word, target_word, error)) return false;
    FILE *text = open_memstream(links, &size);
    if (text) links_print(text, &view->aligner.links);
    return (text && fclose(text) == 0) || error_set(error, "not enough memory to align words");
}

bool view_align(View *view, char **links, LazySnapshot *lazy, const int *source_word,
                long long number, Error *error)
{
    const Vocabulary *vocabulary = &view->bundle->vocabulary;
    const AlignConfig *config = &view->request->align;
    int words, m = lazy->target_length, *word = malloc((size_t)m * sizeof *word);
    if (!word) return error_set(error, "not enough memory to align %d words", m);
    const Snapshot *snapshot = snapshot_get(lazy, error);
    bool good =
        snapshot &&
        words_of_ids(word, &words, vocabulary->tokenizer[TARGET], lazy->target, m - 1, error) &&
        (!config->align || find_links(view, links, snapshot, source_word, word, error)) &&
        (!config->tsv ||
         table_add(&view->table, snapshot, vocabulary, &view->choice, number, error));
    free(word);
    return good;
}
