/* backward.h -- the second part of explain/explain.h: the way back through a head. */
#pragma once

#include "explain/explanation.h"
#include "explain/update.h"

/* Writes the gradients of the head and the word of e, the update, and the new attention row. */
void backward_print(const Explanation *e, const Update *update);
