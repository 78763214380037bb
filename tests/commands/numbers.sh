#!/bin/sh
# numbers.sh -- extreme options and corpora: each run gives figures or one sentence, never "nan" or
# "inf"; numbers that are not finite stop the run, and the best checkpoint stands.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh

language 200 30
options="$tiny --max-updates 6 --valid-every 3"
train() { "$latest" "$BIN/train" $corpus $options "$@"; }
# honest NAME: no file of text of the run has a number that is none.
honest() { ! grep -niE -- '-nan|\<inf\>|infinity' $1.err $1/*.json* $1/weights.tsv && ! grep -i nan $1.err $1/*.json*; }

# fine NAME OPTIONS...: the run succeeds, and its model translates.
fine() {
    run=$1
    shift
    if ! train "$@" --output "$run" 2>"$run.err"; then fail "$run" "$(tail -n 1 "$run.err")"
    elif ! honest "$run" >lies; then fail "$run" "$(head -n 1 lies)"
    else check "$run" "$BIN/translate" --model "$run" "one two"; fi
}
echo 'one two' >pair.s && echo 'TWO ONE' >pair.t
yes 'one two' | head -n 40 >equal.s && yes 'TWO ONE' | head -n 40 >equal.t
yes one | head -n 40 >token.s && yes ONE | head -n 40 >token.t
for text in pair token; do
    fine "$text" --train-source $text.s --train-target $text.t --valid-source $text.s --valid-target $text.t
done
fine equal --train-source equal.s --train-target equal.t
fine one-validation-pair --valid-source pair.s --valid-target pair.t --valid-translations 0
fine threads --threads 64 --label-smoothing 0.9
fine dropout --dropout 0.9 --attention-dropout 0.9 --activation-dropout 0.9 --r-drop 100
fine clipped --clip-norm 1e-300 --label-smoothing 0
fine smallest --d-model 2 --heads 2 --ffn 1 --beta1 0 --beta2 0 --epsilon 1e-16
fine short --max-length 3
fine one-update --max-updates 1 --warmup 0 --schedule cosine
fine hot --learning-rate 1 --clip-norm 0
wrong "a vocabulary of one" 2 "^train: --vocab-size takes a whole number from" train --vocab-size 1
wrong "smoothing of all" 2 "^train: --label-smoothing takes a number from" train --label-smoothing 1

# Weights that grow a hundredfold in an update.
hotter="--learning-rate 1 --weight-decay 100 --clip-norm 0 --max-updates 30"
train $hotter --valid-every 1 --output grows 2>grows.err
check "a loss of thousands: status, sentence, advice" sh -c 'test $1 = 1 && tail -n 1 grows.err |
    grep -Eq "^train: update [0-9]+: the .* is not finite.*; try a --learning-rate below 1,"' sh $?
check "a loss of thousands: no perplexity is inf" honest grows
check "a loss of thousands: said" grep -q "perplexity above 1e+300" grows.err
check "the best checkpoint stands, and translates" "$BIN/translate" --model grows "one two"
train $hotter --valid-every 4 --output overflows 2>overflows.err
check "a gradient that is not finite: update and tensor" sh -c 'test $1 = 1 && tail -n 1 overflows.err |
    grep -Eq "^train: update [0-9]+: the gradient of model[.][a-z0-9_.]+ is not finite [(].*--learning"' sh $?
check "a gradient that is not finite: no nan" honest overflows

# ---- a checkpoint of version 1 goes on ----
printf '%s\n' a b 'a b' 'b a' 'a a' 'b b' >t.s && printf '%s\n' b a 'b a' 'a b' 'b b' 'a a' >t.t
mkdir old && cp "$here/tests/fixtures/checkpoint-1.safetensors" old/last.safetensors
"$latest" "$BIN/train" --train-source t.s --train-target t.t \
    --valid-source t.s --valid-target t.t --tokenizer word --normalization identity --vocab-size 8 \
    --d-model 4 --heads 2 --ffn 4 --encoder-layers 1 --decoder-layers 1 --max-length 6 \
    --batch-tokens 40 --warmup 10 --learning-rate 0.03 --dropout 0 --label-smoothing 0 \
    --schedule constant --valid-every 100 --max-updates 205 --output old 2>old.err
check "a checkpoint of version 1 goes on" sh -c \
    'test $1 = 0 && grep -q "^going on *from update 200" old.err' sh $?

# ---- the order of bytes ----
if command -v "${CC:-cc}" >/dev/null; then
    wrong "a big-endian build is refused" 1 "the format is little-endian" sh -c '"$@" 2>&1 >/dev/null |
        grep -m 1 "error:" >&2; exit 1' sh "${CC:-cc}" -std=c11 -I"$here" -U__BYTE_ORDER__ \
        -D__BYTE_ORDER__=__ORDER_BIG_ENDIAN__ -fsyntax-only "$here/model/safetensors.c"
fi
