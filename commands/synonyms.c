/* synonyms.c -- names of options in JoeyNMT, fairseq, Marian, OpenNMT and Hugging Face's
 * transformers, and in older versions of these programs. The first row that fits answers. */
#include "commands/command.h"

// clang-format off
const Synonym option_synonyms[] = {
    {"fold-case", "lowercase lower-case do-lower-case", NULL},
    {"attention-score", "score", NULL},
    {"whole-words", "words", NULL},
    /* ./train */
    {"output", "resume resume-from resume-from-checkpoint restore-file train-from continue",
     "resuming is automatic: repeat the command"},
    {"output", "save-dir output-dir outdir model-dir model save-model save-path log-dir out o "
     "checkpoint checkpoint-dir checkpoint-path ckpt ckpt-dir", NULL},
    {"preset", "arch architecture recipe", NULL},
    {"init", "finetune-from-model finetune pretrained-model pretrained load-model load", NULL},
    {"train-source", "src train-src src-train source source-file input input-file i", NULL},
    {"train-target", "tgt trg train-tgt tgt-train train-trg target target-file", NULL},
    {"train-source", "train train-data train-file train-sets trainpref data dataset corpus",
     "here: `train-source` and `train-target`, or `train-tsv`"},
    {"valid-source", "valid dev val valid-data valid-sets validpref dev-data validation-file "
     "valid-src src-valid valid-tgt tgt-valid", "here: `valid-source` and `valid-target`"},
    {"train-source", "src-lang tgt-lang trg-lang source-lang target-lang lang s t",
     "languages need no name: `train-source` is translated into `train-target`"},
    {"tokenizer", "level subword bpe spm-type tokenizer-type model-type", NULL},
    {"tokenizer-model", "vocab vocabs src-vocab tgt-vocab srcdict tgtdict spm-model", NULL},
    {"vocab-size", "vocabulary-size voc-limit dim-vocabs num-merges src-vocab-size", NULL},
    {"vocabulary", "joined-dictionary share-vocab shared-vocab", NULL},
    {"d-model", "hidden-size hidden-dim embed-dim embedding-dim embedding-size dim-emb "
     "rnn-size word-vec-size encoder-embed-dim decoder-embed-dim", NULL},
    {"heads", "num-heads n-heads n-head nhead num-attention-heads attention-heads "
     "transformer-heads encoder-attention-heads decoder-attention-heads", NULL},
    {"ffn", "ffn-dim ff-size ff-dim d-ff dim-feedforward transformer-ff transformer-dim-ffn "
     "encoder-ffn-embed-dim decoder-ffn-embed-dim intermediate-size", NULL},
    {"encoder-layers", "num-layers n-layers layers depth num-hidden-layers enc-layers "
     "enc-depth dec-layers dec-depth", "here: `encoder-layers` and `decoder-layers`"},
    {"max-length", "max-len max-seq-len max-seq-length max-sent-length max-source-length "
     "max-target-length max-source-positions max-target-positions src-seq-length", NULL},
    {"activation", "activation-fn activation-function hidden-act ff-activation", NULL},
    {"tying", "tied-embeddings tied-embeddings-all share-all-embeddings", NULL},
    {"learning-rate", "lr learn-rate base-lr", NULL},
    {"schedule", "lr-scheduler lr-scheduler-type scheduling decay-method", NULL},
    {"warmup", "warmup-steps warmup-updates lr-warmup num-warmup-steps", NULL},
    {"max-epochs", "epochs epoch max-epoch num-epochs num-train-epochs after-epochs", NULL},
    {"max-updates", "max-steps max-update steps train-steps updates after-batches", NULL},
    {"batch-tokens", "batch-size mini-batch max-tokens per-device-train-batch-size update-freq "
     "accum-count gradient-accumulation-steps batch-multiplier optimizer-delay",
     "here: `batch-tokens`, source plus target tokens of an update"},
    {"clip-norm", "grad-clip clip-grad clip-grad-norm gradient-clip max-grad-norm", NULL},
    {"label-smoothing", "label-smoothing-eps label-smoothing-factor smoothing", NULL},
    {"attention-dropout", "attn-dropout transformer-dropout-attention", NULL},
    {"optimizer", "optim", NULL},
    {"beta1", "betas adam-betas adam-beta1 adam-beta2 adam-eps eps",
     "AdamW has `beta1`, `beta2`, `epsilon` and `weight-decay`"},
    {"patience", "early-stopping early-stop early-stopping-patience", NULL},
    {"valid-every", "save-interval save-freq save-steps save-interval-updates valid-freq "
     "valid-steps save-every validation-freq validate-interval eval-steps",
     "here: `valid-every`; each validation saves the run"},
    {"keep-last", "keep-last-epochs keep-checkpoint keep-best-ckpts save-total-limit", NULL},
    {"precision", "fp16 bf16 half amp mixed-precision", NULL},
    /* ./translate */
    {"model", "checkpoint checkpoint-path ckpt path models model-path model-name", NULL},
    {"model", "src source source-file input input-file i", "give arguments or standard input"},
    {"model", "output output-file out o hypo", "translations go to standard output: >FILE"},
    {"target", "tgt trg target-file", NULL},
    {"reference", "ref refs references", NULL},
    {"beam", "beam-size beam-width num-beams b", NULL},
    {"n-best", "nbest num-return-sequences num-hypotheses", NULL},
    {"length-penalty", "lenpen alpha beam-alpha normalize", NULL},
    {"max-tokens", "max-len max-length max-new-tokens max-output-length max-len-b", NULL},
    {"max-length-ratio", "max-len-a maxlenratio max-length-factor", NULL},
    {"no-repeat-ngram", "no-repeat-ngram-size block-ngram-repeat", NULL},
    {"sample", "sampling do-sample random-sampling sampling-topk sampling-topp output-sampling",
     "here: `sample`, with `top-k`, `top-p` and `temperature`"},
    {"copy-unknown", "replace-unk unk-replace", NULL},
    {"batch-rows", "batch-size mini-batch max-batch-size", NULL},
    {"int8", "quantize fp16 half", NULL},
    {"attention", "save-attention attn-debug print-attention output-attentions", NULL},
    {"align", "alignment print-alignment report-align", NULL},
    {"threads", "cpu-threads num-threads num-workers workers j", NULL},
    {"seed", "seed-value random-seed manual-seed", NULL},
    {"version", "V", NULL},
    {NULL, "device devices gpu gpus gpuid gpu-ranks num-gpus ngpu cuda use-cuda cpu use-cpu",
     "qkv runs on the processor"},
    {NULL, NULL, NULL},
};
// clang-format on
