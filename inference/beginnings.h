/* beginnings.h -- what the translations of texts must begin with, as prefix constraints of
 * their sentences (TranslatorInput.prefix).
 *
 *     text         "- Is {name} here? Yes. Thank you."
 *     beginning    "- {name} est ici ? Ou"
 *     constraints  "<ph1> est ici ?</s>"  "Ou"  ""
 *
 * A sentence of the beginning belongs to the sentence of the text in the same place: the last
 * one begins its translation, those before it are whole translations. The last sentence of the
 * text has the rest if there are more. */
#pragma once

#include "inference/passage.h"

typedef struct Beginnings {
    IdLines lines;      // [sentences of the passages]
    Segments segments;  // of the last beginning
} Beginnings;

/* Adds a line for each sentence of the last passage. name: of the beginning, for errors */
bool beginnings_add(Beginnings *beginnings, Passages *passages, const char *text,
                    const char *name, Error *error);
void beginnings_free(Beginnings *beginnings);  // does nothing for {0}
