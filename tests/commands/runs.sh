#!/bin/sh
# runs.sh -- what ./train keeps of a run: averaged weights, what is the best, and when it validates. The bytes must not depend on threads, on being stopped and
# gone on with, nor on being killed at any time.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh

language 400 60
options="$tiny --micro-tokens 60 --dropout 0.2 --quiet
    --valid-source valid.s --valid-target valid.t"
corpus="--train-source train.s --train-target train.t"
train() { "$latest" "$BIN/train" $options $corpus "$@"; }
# valid RUN KEY: the values of KEY in the validation lines, one a line.
valid() { sed -n "/\"valid\"/s/.*\"$2\":\([^,}]*\).*/\1/p" "$1/metrics.jsonl"; }
# progress RUN KEY: the value of KEY in the progress of last.safetensors.
progress() { head -c 20000 "$1/last.safetensors" | grep -a -o "\\\\\"$2\\\\\":[^,}]*" | sed 's/.*://'; }

# ---- averages ----
averaged="--ema 0.9 --valid-every 20 --max-updates 60"
for threads in 1 3; do train $averaged --threads $threads --output "a$threads" 2>err; done
for file in last best; do
    check "averages, 3 threads: the same $file" cmp a1/$file.safetensors a3/$file.safetensors
done

# numbers FILE: those of a model's tensors, one a line; the tokenizer is behind them.
numbers() {
    header=$(od -A n -t u8 -N 8 "$1" | tr -d ' ')
    bytes=$(tail -c +9 "$1" | head -c "$header" | sed 's/.*"tokenizer":{[^[]*\[[^[]*\[\([0-9]*\),.*/\1/')
    tail -c +$((9 + header)) "$1" | head -c "$bytes" | od -A n -v -t f4 -w4
}
numbers a1/best.safetensors >best.numbers
check "the best validation was the last" test "$(progress a1 best_update)" = 60
"$BIN/translate" --model a1 --beam 1 --reference valid.t <valid.s >out 2>err
check "what was validated is what ./translate takes" \
    test "$(sed -n 's/^BLEU[^=]* = \([0-9.]*\) .*/\1/p' err)" = "$(printf %.2f "$(valid a1 bleu | tail -n 1)")"
train --bleu-tokenize char --valid-every 60 --max-updates 60 --output by-char 2>err
"$BIN/translate" --model by-char --beam 1 --bleu-tokenize char --reference valid.t <valid.s >out 2>err
score=$(sed -n 's/^BLEU[^=]* = \([0-9.]*\) .*/\1/p' err)
check "so it is with another --bleu-tokenize" test "$score" = "$(printf %.2f "$(valid by-char bleu)")" -a "$score" != 0.00
# doubtful RUN: what its model says of the text; of 60 numbers the second is 2 %.
doubtful() { head -c 20000 "$1/best.safetensors" | grep -a -o 'doubtful[\\": ]*[-0-9.e]*' | sed -n '$s/.*[ "]//p' | xargs printf %.5f; }
second() { sort -g | sed -n 2p | xargs printf %.5f; }
wanted=$("$BIN/translate" --model a1 --beam 1 --json <valid.s 2>err | sed 's/.*"score":\([^,]*\),.*/\1/' | second)
check "2 % of the translations are doubtful" test "$(doubtful a1)" = "$wanted" -a "$wanted" != 0.00000
train --valid-translations 0 --max-updates 20 --output none 2>err
check "none is if nothing is translated" test "$(doubtful none)" = 0.00000
train --valid-every 20 --max-updates 60 --output plain 2>err
numbers plain/best.safetensors >plain.numbers
check "the average is another model" sh -c '! cmp -s best.numbers plain.numbers'

# ---- going on ----
for stop in 20 40; do train $averaged --max-updates $stop --threads 2 --output on 2>err; done
train $averaged --output on 2>err
for file in last best; do
    check "gone on twice: the same $file" cmp "a1/$file.safetensors" "on/$file.safetensors"
done
long="$averaged --valid-every 40 --max-updates 240"
train $long --output whole 2>err
for update in 50 150; do
    "$latest" "$BIN/train" $options $corpus $long --output killed 2>err &
    pid=$!
    await grep -q "\"update\":$update," killed/metrics.jsonl
    kill -9 $pid
    wait $pid 2>/dev/null
    check "killed after update $update" test $? = 137
done
check "killed twice, it goes on" train $long --output killed
for file in last best; do
    check "killed twice: the same $file" cmp "whole/$file.safetensors" "killed/$file.safetensors"
done
check "a moving average may begin in the middle" train --ema 0.9 --valid-every 10 --max-updates 70 \
    --output plain

# ---- the best ----
rising="--valid-every 30 --learning-rate 0.03"
for best in loss bleu chrf; do
    train --best $best $rising --max-updates 150 --output "by-$best" 2>err
    [ $best = loss ] && order=-n || order=-nr
    line=$(valid "by-$best" $best | cat -n | sort -s -k 2 $order | awk 'NR == 1 { print $1 }')
    check "--best $best: the first with the best $best" \
        test "$(progress "by-$best" best_update)" = "$(valid "by-$best" update | sed -n "${line}p")"
done
for stop in 90 150; do train --best bleu $rising --max-updates $stop --output parts 2>err; done
check "--best bleu, gone on: the same bytes" cmp by-bleu/best.safetensors parts/best.safetensors
wrong "the best BLEU is not that of fewer sentences" 1 "another validation text (--valid-translations is another): " \
    train --best bleu $rising --max-updates 160 --valid-translations 5 --output by-bleu
train --best bleu --patience 2 --valid-every 5 --max-updates 2000 --output patience 2>err
valid patience bleu | awk '{ if (NR == 1 || $1 > best) { best = $1; stale = 0 } else stale++ }
    stale == 2 { print NR; exit }' >wanted
check "--patience counts by --best" test "$(cat wanted)" = "$(valid patience bleu | wc -l)"
train --best bleu --valid-translations 0 --output x 2>err
check "--best bleu without translations" sh -c 'test $1 = 2 && grep -q "valid-translations" err' sh $?

# ---- R-Drop, guided alignment, distillation and weight decay ----
more="--r-drop 2 --guide-alignment 0.1 --teacher by-loss --teacher by-bleu --weight-decay 0.1 --valid-every 10"
for threads in 1 3; do train $more --max-updates 30 --threads $threads --output "r$threads" 2>err; done
train $more --max-updates 12 --output r-parts 2>err
train $more --max-updates 30 --output r-parts 2>err
check "R-Drop, guided alignment, distillation and weight decay, 3 threads: the same bytes" cmp r1/last.safetensors r3/last.safetensors
numbers r1/last.safetensors >whole.numbers
numbers r-parts/last.safetensors >parts.numbers
check "and gone on" cmp whole.numbers parts.numbers
train --max-updates 30 --valid-every 10 --output alone 2>err
train --max-updates 30 --valid-every 10 --teacher by-loss --output taught 2>err
check "with a teacher it learns faster" sh -c '
    awk "BEGIN { exit !($(echo "$1" | tail -n 1) < 0.99 * $(echo "$2" | tail -n 1)) }"' sh \
    "$(valid taught loss)" "$(valid alone loss)"
train --max-updates 40 --output taught 2>err
check "and goes on only with it" sh -c 'test $1 = 1 && grep -q "was started with another --teacher" err' sh $?
train --vocab-size 20 --max-updates 1 --output other 2>err
train --teacher by-loss --teacher other --max-updates 1 --output x 2>err
check "teachers with different vocabularies" sh -c 'test $1 = 1 && grep -q "have different tokenizers" err' sh $?
train --teacher other --max-updates 1 --output x 2>err
check "a teacher with another vocabulary" sh -c 'test $1 = 1 && grep -q "other. has another vocabulary" err' sh $?
check "leaves no run" test ! -e x
"$BIN/translate" --model other --export exported 2>err
train --teacher other --tokenizer-model exported/target.spm --max-updates 1 --output x 2>err
check "a teacher's exported vocabulary" test $? -eq 0
rm -rf x
train --r-drop 2 --dropout 0 --output x 2>err
check "R-Drop without dropout" sh -c 'test $1 = 2 && grep -q "give a --dropout" err' sh $?

# ---- numbers that are not finite ----
# Three pairs of two files in one update; then a weight becomes the largest float there is.
printf 'one two\n\nthree four\n' >few.s
printf 'TWO ONE\nONE\nFOUR THREE\n' >few.t
printf 'five six\tSIX FIVE\n' >few.tsv
few() { "$latest" "$BIN/train" $options --train-source few.s --train-target few.t --train-tsv few.tsv --output few "$@" 2>err; }
few --max-updates 3
# largest RUN TENSOR NUMBER: the number of the tensor becomes that.
largest() {
    LC_ALL=C sed -i 's/crc32/crcXX/g' "$1/last.safetensors"
    header=$(od -A n -t u8 -N 8 "$1/last.safetensors" | tr -d ' ')
    place=$(tail -c +9 "$1/last.safetensors" | head -c "$header" |
        sed "s/.*\"$2\":{[^[]*\[[^[]*\[\([0-9]*\),.*/\1/")
    printf '\377\377\177\177' |
        dd of="$1/last.safetensors" bs=1 seek=$((8 + header + place + 4 * $3)) conv=notrunc 2>dd.err
}
largest few model.shared.weight 0
few --max-updates 6 --clip-norm 0
status=$?
check "not finite: it fails, with one sentence" test $status = 1 -a "$(wc -l <err)" = 1
check "not finite: update, tensor and what to change" grep -q \
    '^train: update 4: the gradient of model[.].* is not finite .*--learning-rate below 0.01, a --warmup above 5 or --clip-norm 1' err
# The embedding of <unk>, which only the validation has.
fewer() { few --tying none --valid-epochs 1 --output fewer "$@"; }
fewer --max-updates 3
largest fewer model.encoder.embed_tokens.weight 16
fewer --max-updates 6
check "not finite in a validation" sh -c 'test $1 = 1 -a "$(wc -l <err)" = 1 &&
    grep -q "^train: update 4: the loss of the validation is not finite; try a --learn" err' sh $?

# ---- when ----
train --max-epochs 6 --valid-translations 1 --output e1 2>err
check "once an epoch, if not told otherwise" test "$(valid e1 epoch | tr '\n' ' ')" = "1 2 3 4 5 6 "
"$latest" "$BIN/train" $corpus $tiny --max-epochs 6 --valid-translations 40 --output fifth 2>err
every=$(sed -n 's/^validates *every \([0-9]*\) epochs, .*fifth of the work.*/\1/p' err)
check "less often if validating takes more than a fifth of the work" test "${every:-1}" -gt 1
check "and so it does" test "$(valid fifth epoch | head -n 1)" = "$every"
check "--valid-epochs 1 is each epoch" sh -c '"$0" "$@" 2>err && ! grep -q ^validates err' "$latest" "$BIN/train" \
    $corpus $tiny --max-epochs 2 --valid-translations 40 --valid-epochs 1 --output each
train --max-epochs 6 --valid-epochs 4 --output e2 2>err
check "--valid-epochs, and at the end" test "$(valid e2 epoch | tr '\n' ' ')" = "4 6 "
train --max-epochs 2 --valid-epochs 2 --valid-every 9 --output e3 2>err
in_epoch=$(valid e1 update | head -n 1)
check "--valid-every beside it" test "$(valid e3 update | tr '\n' ' ')" = \
    "$(i=9; while [ $i -lt $((2 * in_epoch)) ]; do printf '%d ' $i; i=$((i + 9)); done)$((2 * in_epoch)) "
