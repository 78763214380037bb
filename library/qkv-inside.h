/* qkv-inside.h -- what the objects of qkv.h are made of, for the programs of this project. */
#pragma once

#include "inference/bundle.h"
#include "inference/snapshot.h"
#include "library/qkv.h"

const Bundle *inside_model(const QkvModel *model);

/* Its `each` is that of the translation, and must not be read without it. */
const Snapshot *inside_attention(const QkvAttention *attention);
