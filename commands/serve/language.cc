/* language.cc -- names by ICU, detection by CLD2, which only C++ can call; see language.h. */
#include "commands/serve/language.h"

#include <cstdio>
#include <cstring>

#include <unicode/uloc.h>
#include <unicode/ustring.h>
#ifdef WITH_CLD2
#include <cld2/public/compact_lang_det.h>
#endif

void language_name(char name[LANGUAGE_NAME], const char *code)
{
    UChar wide[LANGUAGE_NAME];
    UErrorCode status = U_ZERO_ERROR;
    int length = uloc_getDisplayName(code, "en", wide, LANGUAGE_NAME, &status);
    u_strToUTF8(name, LANGUAGE_NAME - 1, nullptr, wide, length, &status);
    name[LANGUAGE_NAME - 1] = 0;
    if (U_FAILURE(status) || length == 0) snprintf(name, LANGUAGE_NAME, "%s", code);
}

#ifdef WITH_CLD2
/* CLD2's code, or the one that has taken its place. */
static const char *code_of(CLD2::Language language)
{
    const char *code = CLD2::LanguageCode(language);
    return !strcmp(code, "iw") ? "he" : !strcmp(code, "jw") ? "jv" : code;
}
#endif

int language_detect(LanguageGuess guess[LANGUAGES_FOUND], const char *text, bool html)
{
#ifdef WITH_CLD2
    CLD2::Language language[LANGUAGES_FOUND];
    int percent[LANGUAGES_FOUND], bytes, count = 0;
    bool reliable;
    CLD2::DetectLanguageSummary(text, int(strlen(text)), !html, language, percent, &bytes,
                                &reliable);
    for (int i = 0; i < LANGUAGES_FOUND; i++) {
        if (language[i] == CLD2::UNKNOWN_LANGUAGE || percent[i] == 0) continue;
        snprintf(guess[count].code, LANGUAGE_CODE, "%s", code_of(language[i]));
        guess[count++].percent = percent[i];
    }
    return count;
#else
    (void)guess, (void)text, (void)html;
    return -1;
#endif
}
