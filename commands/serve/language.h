/* language.h -- languages by their codes (ISO 639), and which one a text is in. */
#pragma once

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { LANGUAGE_NAME = 64, LANGUAGE_CODE = 16, LANGUAGES_FOUND = 3 };

/* name (=) that of "fr" in English, "French"; of a code that is not known the code itself. */
void language_name(char name[LANGUAGE_NAME], const char *code);

typedef struct LanguageGuess {
    char code[LANGUAGE_CODE];
    int percent;  // of the text
} LanguageGuess;

/* guess [returned number] (=) the languages of a text in UTF-8, or of HTML, the most probable first; 0: it is
 * too short, or in no language. -1: the program was built without CLD2. Source: github.com/CLD2Owners/cld2 */
int language_detect(LanguageGuess guess[LANGUAGES_FOUND], const char *text, bool html);

#ifdef __cplusplus
}
#endif
