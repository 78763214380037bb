/* marian.h -- folders in the format of Hugging Face's MarianMT.
 *
 *   config.json             sizes, activation, special tokens
 *   model.safetensors       the weights, under the names of params.h
 *   vocab.json              the id of each piece, one map for both languages
 *   source.spm, target.spm  SentencePiece models, whose own ids mean nothing here
 *   generation_config.json, tokenizer_config.json    only written, for other programs */
#pragma once

#include "data/vocabulary.h"
#include "model/checkpoint.h"
#include "model/transformer.h"

/* Whether a folder has a config.json of MarianMT, or model.safetensors and one that cannot be read:
 * marian_open says why. */
bool marian_is_folder(const char *folder);

/* Opens a folder as a checkpoint of this program: its configuration and its SentencePiece models
 * with the ids of vocab.json, but </s> 0, <unk> 1 and <pad> last. Close it only if this
 * succeeded. */
bool marian_open(CheckpointFile *checkpoint, const char *folder, Error *error);

/* Writes a model that was loaded as BUNDLE_ROWS. `folder` must not exist, or be empty; it appears
 * complete, or not at all. A network or vocabulary that MarianMT does not have is an error. */
bool marian_export(Transformer *model, const Vocabulary *vocabulary, const char *folder,
                   Error *error);
