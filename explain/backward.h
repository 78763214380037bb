/* backward.h -- the way back through a head, from the loss to the weights, as text: the second
 * part of explain/explain.h. */
#pragma once

#include "explain/explanation.h"
#include "explain/update.h"

/* Writes the gradients of the head and the word that e follows, the update, and the attention
 * row after it. False: not enough memory. */
bool backward_print(const Explanation *e, const Update *update, Error *error);
