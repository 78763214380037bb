#!/bin/sh
# watch.sh -- ./train --watch: the snapshots are the same whether a run was killed or not, and do not change
# the training.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh

language 300 20
options="--preset tiny --train-source train.s --train-target train.t --valid-source valid.s --valid-target valid.t --augment 0
    --tokenizer word --normalization identity --vocab-size 60 --d-model 16 --heads 2 --ffn 32 --encoder-layers 1
    --decoder-layers 2 --max-length 20 --batch-tokens 200 --valid-every 25 --warmup 20
    --learning-rate 0.01 --schedule inverse-sqrt --quiet"
# shellcheck disable=SC2086
train() { "$latest" "$BIN/train" $options "$@" 2>>err; }
pair="one two three ||| THREE TWO ONE"

train --max-updates 70 --output whole --watch "$pair"
check "snapshots at 0, 10, … 50, then a quarter later, and at validations" test \
    "$(sed -n 's/.*"update":\([0-9]*\).*/\1/p' whole/watch.jsonl | tr '\n' ' ')" = \
    "0 10 20 25 30 40 50 62 70 "
check "the rows of every snapshot are the given translation" test \
    "$(grep -c '"target":\["THREE","TWO","ONE","</s>"\]' whole/watch.jsonl)" = 9
check "a row sums to 1" awk -F '"share":' '/"frame"/ {
    gsub(/[^0-9]+/, " ", $2); n = split($2, p, " "); if (n != 2 * 4 * 4) bad = 1
    for (i = 1; i <= n; i += 4) { s = p[i] + p[i + 1] + p[i + 2] + p[i + 3]; if (s < 997 || s > 1003) bad = 1 }
    } END { exit bad }' whole/watch.jsonl
check "an animation of them" sh -c 'head -c 500 whole/watch.png | od -An -v -tx1 | tr -d " \n" |
    grep -q 6163544c00000009'

train --max-updates 40 --output parts --watch "$pair"
cp parts/watch.jsonl before
train --max-updates 70 --output parts --watch "$pair"
check "a resumed run has the same snapshots" cmp whole/watch.jsonl parts/watch.jsonl
check "and keeps its earlier ones" sh -c 'head -n "$(wc -l <before)" parts/watch.jsonl | cmp - before'

# Killed: the file has snapshots newer than the checkpoint, and half a line.
train --max-updates 25 --output killed --watch "$pair"
sed -n '6,$p' whole/watch.jsonl >>killed/watch.jsonl
printf '{"type":"frame","upd' >>killed/watch.jsonl
train --max-updates 70 --output killed --watch "$pair"
check "a killed run has the same snapshots" cmp whole/watch.jsonl killed/watch.jsonl
check "and the same animation except for its name" sh -c \
    'test "$(wc -c <whole/watch.png)" -eq "$(($(wc -c <killed/watch.png) - 1))"'

train --max-updates 70 --output blind
check "no sentence, no animation" sh -c '! test -e blind/watch.png && ! test -e blind/watch.jsonl'
check "watching does not change the training" cmp whole/last.safetensors blind/last.safetensors
train --max-updates 80 --output blind --watch "two one"
check "without a given translation the rows are the model's" sh -c \
    'head -n 1 blind/watch.jsonl | grep -q "\"given\":false" && test "$(grep -c frame blind/watch.jsonl)" -ge 1'
"$latest" "$BIN/train" $options --max-updates 80 --output long --watch "$(yes one | head -n 500 | tr '\n' ' ')" 2>err
check "a sentence that is too long, before anything is written" sh -c 'grep -q "^train: --watch: .* 1 to 19 can be watched" err && ! test -e long'

train --max-updates 97 --valid-every 97 --valid-translations 0 --output often --watch "$pair"
train --max-updates 106 --valid-every 1 --valid-translations 0 --output often --watch "$pair"
check "frames of validations that are too close are left out" test \
    "$(sed -n '/frame/s/.*"update":\([0-9]*\).*/\1/p' often/watch.jsonl | tail -n 6 | tr '\n' ' ')" = "97 98 99 101 103 105 "

train --max-updates 2 --output words --watch "one zebra ||| ZEBRA ONE"
check "words that the model does not know are named" sh -c \
    'grep -q "\"source\":\[\"one\",\"zebra\",\"</s>\"\]" words/watch.jsonl && grep -q "\"target\":\[\"ZEBRA\",\"ONE\",\"</s>\"\]" words/watch.jsonl'
train --tokenizer bpe --vocab-size 330 --byte-fallback --max-updates 2 --output bytes --watch "one 😀 ||| 😀 ONE"
check "bytes of one character are one row and column" sh -c \
    'grep -q "\"source\":\[\"one\",\"▁\",\"😀\",\"</s>\"\]" bytes/watch.jsonl &&
     grep -q "\"share\":\[\[[0-9]*\(,[0-9]*\)\{15\}\],\[" bytes/watch.jsonl'

# weights.png. The run's name is in its file, so every run is made in a folder of one name.
matrices() { train --output run "$@"; }
matrices --max-updates 45 --threads 1 && mv run one
check "weights.png is a picture" sh -c 'head -c 8 one/weights.png | od -An -c | grep -q "P   N   G"'
check "W_Q, W_K and W_V are recorded at 0, 10, 20, 40" test \
    "$(sed 1d one/weights.tsv | cut -f 1 | tr '\n' ' ')" = "0 10 20 40 "
check "with the loss and three maps" awk -F '\t' 'NR > 1 && NF != 2 + 3 * 16 * 16 { exit 1 }' one/weights.tsv
check "for the ten words and their translations" test "$(head -n 1 one/weights.tsv | tr '\t' '\n' |
    awk 'NR > 1 && toupper($1) == $2' | sort -u | wc -l)" = 10
matrices --max-updates 25 --threads 2 && matrices --max-updates 45 --threads 3 && mv run two
check "weights.tsv of a resumed run and more threads" cmp one/weights.tsv two/weights.tsv
check "and its weights.png" cmp one/weights.png two/weights.png
matrices --max-updates 25
sed 's/^40\t[0-9.]*/40\t99/' one/weights.tsv >run/weights.tsv
matrices --max-updates 45
check "a frame later than the checkpoint is dropped" cmp one/weights.tsv run/weights.tsv
printf 'decoder layer 1\n5' >run/weights.tsv
check "a broken weights.tsv does no harm" matrices --max-updates 90
sed '3s/\t.*//' one/weights.tsv >run/weights.tsv
check "nor does one that ends early" matrices --max-updates 95
