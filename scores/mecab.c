/* mecab.c -- the words of Japanese and Korean; see mecab.h.
 *
 * Scores depend on the dictionary, so it must be the one that sacrebleu takes: IPADIC 2.7.0 or
 * mecab-ko-dic 2.1.1, known by their numbers of words. Debian's IPADIC has one word more. MeCab is loaded when it is needed, and stays. */
#include "scores/mecab.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* As in mecab.h of MeCab 0.996. */
typedef struct DictionaryInfo {
    const char *filename, *charset;
    unsigned size;  // words
    int type;
    unsigned left_size, right_size;
    unsigned short version;
    const struct DictionaryInfo *next;
} DictionaryInfo;

static struct Mecab {
    void *library;
    void *(*open)(const char *arguments);
    void (*close)(void *tagger);
    const char *(*parse)(void *tagger, const char *text, size_t length);
    const DictionaryInfo *(*dictionary)(void *tagger);
    const char *(*version)(void);
    void *tagger[2];  // of Japanese, of Korean
} mecab;

// clang-format off
static const struct {
    unsigned words;
    const char *name, *what, *folder[4];  // NULL: the one that MeCab is set to
} dictionaries[] = {
    {392126, "IPA", "the dictionary IPADIC in UTF-8 (mecab-ipadic-utf8)",
     {NULL, "/var/lib/mecab/dic/ipadic-utf8", "/usr/share/mecab/dic/ipadic",
      "/usr/lib/mecab/dic/ipadic"}},
    {811795, "KO", "MeCab-ko's dictionary mecab-ko-dic",
     {NULL, "/usr/local/lib/mecab/dic/mecab-ko-dic", "/usr/lib/mecab/dic/mecab-ko-dic",
      "/var/lib/mecab/dic/mecab-ko-dic"}},
};
// clang-format on

static bool load(void)
{
    if (mecab.library) return true;
    void *library = dlopen("libmecab.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!library) return false;
    *(void **)&mecab.open = dlsym(library, "mecab_new2");
    *(void **)&mecab.close = dlsym(library, "mecab_destroy");
    *(void **)&mecab.parse = dlsym(library, "mecab_sparse_tostr2");
    *(void **)&mecab.dictionary = dlsym(library, "mecab_dictionary_info");
    *(void **)&mecab.version = dlsym(library, "mecab_version");
    bool good = mecab.open && mecab.close && mecab.parse && mecab.dictionary && mecab.version;
    if (good) mecab.library = library;
    else dlclose(library);
    return good;
}

static void *open_tagger(bool korean)
{
    char arguments[256];
    enum { PLACES = sizeof dictionaries->folder / sizeof *dictionaries->folder };
    for (int i = 0; !mecab.tagger[korean] && i < PLACES; i++) {
        const char *folder = dictionaries[korean].folder[i];
        snprintf(arguments, sizeof arguments, "-Owakati%s%s", folder ? " -d " : "",
                 folder ? folder : "");
        void *tagger = mecab.open(arguments);
        const DictionaryInfo *info = tagger ? mecab.dictionary(tagger) : NULL;
        if (info && info->size - dictionaries[korean].words <= 1 && !info->next &&
            (!strcasecmp(info->charset, "utf-8") || !strcasecmp(info->charset, "utf8")))
            mecab.tagger[korean] = tagger;
        else if (tagger) mecab.close(tagger);
    }
    return mecab.tagger[korean];
}

char *mecab_split(const char *text, bool korean, Error *error)
{
    if (!load() || !open_tagger(korean))
        return error_set(error, "words need %s and %s: install them, or score characters",
                         "MeCab (libmecab.so.2)", dictionaries[korean].what),
               NULL;
    const char *words = mecab.parse(mecab.tagger[korean], text, strlen(text));
    if (!words) return error_set(error, "MeCab cannot read a sentence"), NULL;
    char *copy = strdup(words);
    if (!copy) error_memory(error, "for the words of a sentence");
    return copy;
}

void mecab_signature(bool korean, char *text, size_t size)
{
    text[0] = '\0';
    if (load()) snprintf(text, size, "-%s-%s", mecab.version(), dictionaries[korean].name);
}
