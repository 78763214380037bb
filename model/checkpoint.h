/* checkpoint.h -- a trained model, or a training to be resumed, as one safetensors file.
 *
 *   tensors     every parameter by its name in the table (params.h), F32
 *               for resuming, further blocks under a prefix:
 *                 "adam.m.", "adam.v."    Adam's moments
 *                 "momentum."             with another optimizer, in place of "adam.m."
 *                 "ema."                  the moving average of the weights
 *               in a quantised model, which only translates, instead of each matrix NAME:
 *                 "NAME.int8", "NAME.scale"   I8 [out,in] and F32 [out]: a row of NAME is its scale
 *                                             times its integers, -127 .. 127 (int8.h)
 *               "tokenizer"               the SentencePiece model, U8 [bytes]
 *               "tokenizer.source"        that of the source, if it is another one
 *               "shortlist"               which target tokens translate each source token, I16 taken
 *                                         as unsigned [count] (inference/shortlist.h); or missing
 *   metadata    "format": "qkv"     "version": "1"
 *               "config"            the configuration, JSON text (options_to_json)
 *               "progress"          the state of the training, JSON text
 *               "text"              what the training text was like, JSON (data/textprofile.h)
 *               "crc32...."         checksums (safetensors.h)
 *
 * So translating needs only this file, and it cuts the text into subwords exactly as training
 * did. Byte by byte: checkpoints/README.md. */
#pragma once

#include "model/params.h"
#include "model/safetensors.h"

#define CHECKPOINT_WEIGHTS  ""
#define CHECKPOINT_ADAM_M   "adam.m."
#define CHECKPOINT_ADAM_V   "adam.v."
#define CHECKPOINT_MOMENTUM "momentum."
#define CHECKPOINT_AVERAGE  "ema."
#define CHECKPOINT_INT8     ".int8"
#define CHECKPOINT_SCALE    ".scale"

/* A block of the optimizer, which the trained model does not need. */
typedef struct CheckpointBlock {
    const char *prefix;  // of its tensors' names
    const char *other;   // the prefix of what to begin with in a checkpoint without them
    real *at;            // [params->size]
} CheckpointBlock;

/* What is saved. A block is [params->size]; those that are NULL are left out. */
typedef struct Checkpoint {
    const Params *params;
    const real *weights;
    const CheckpointBlock *block;  // at most 3, ended by one that is NULL; or NULL
    const Prepared *prepared;  // or NULL; its matrices, which are int8, replace their weights
    const char *config;    // JSON; NULL: weights alone, as Hugging Face's programs read them
    const char *progress;  // JSON, or NULL
    const char *text;      // JSON, or NULL
    const void *tokenizer[2];  // of source and target, or NULL and one for both
    size_t tokenizer_size[2];
    const uint16_t *shortlist;  // [shortlist_count], or NULL
    size_t shortlist_count;
} Checkpoint;

/* Replaces the file at `path` in one instant. */
bool checkpoint_save(const Checkpoint *checkpoint, const char *path, Error *error);

/* Loading takes two steps, because the table of parameters follows from the configuration: open
 * the file, build the table from `config`, then read the blocks. */
typedef struct CheckpointFile {
    SafeFile file;
    const char *config;           // JSON
    const char *progress;         // JSON, or NULL
    const char *text;             // JSON, or NULL
    unsigned char *tokenizer[2];  // of source and target, or NULL and one for both
    size_t tokenizer_size[2];
    uint16_t *shortlist;  // [shortlist_count], or NULL
    size_t shortlist_count;
    /* Of a file of MarianMT, which has weights alone (inference/marian.c): it sets the other fields.
     * The tensors can be F16 and BF16, too. A matrix that is missing because it equals another one is
     * found under the other's name. Both malloc'ed: */
    char *own_config;  // what `config` points to
    int32_t *row;      // [V] the row of each token in embeddings and output bias; or NULL
} CheckpointFile;

/* Reads all but the blocks. Close it only if this succeeded. bytes [length]: as in
 * safetensors_open */
bool checkpoint_open(CheckpointFile *checkpoint, const char *name, const void *bytes,
                     size_t length, Error *error);
void checkpoint_close(CheckpointFile *checkpoint);

/* Whether any tensor of a block is there. */
bool checkpoint_has(const CheckpointFile *checkpoint, const char *prefix);

/* Whether a block is complete: every tensor of the table as F32 in its shape, or with int8, for
 * inference, as int8. Other tensors are ignored. Call this before allocating memory for the
 * table: then the block is no larger than the file, whatever the configuration claims. */
bool checkpoint_fits(const CheckpointFile *checkpoint, const Params *params, const char *prefix,
                     bool int8, Error *error);

/* Whether a tensor, or any if it is NULL, is stored as int8. */
bool checkpoint_has_int8(const CheckpointFile *checkpoint, const Tensor *tensor);

/* Reads a block that fits, on all processors. Verifies its checksums, and that every number is
 * finite, in CHECKPOINT_ADAM_V not negative. Gaps between tensors stay as they are.
 * prepared: NULL, or for inference: its matrices, floats or int8, are read into it, in its layout.
 * Verifies that scales are finite and not negative, and no integer is -128. */
bool checkpoint_read(const CheckpointFile *checkpoint, const Params *params, const char *prefix,
                     const Prepared *prepared, real *block, Error *error);
