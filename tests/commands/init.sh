#!/bin/sh
# init.sh -- ./train --init begins with another model, and --freeze keeps parts of it.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh

language 300 40
# The new text has a word that the model does not know.
for file in train valid; do sed 's/one/eleven/' $file.s >new-$file.s; done
new="--train-source new-train.s --train-target train.t --valid-source new-valid.s --valid-target valid.t"
run="--preset tiny --batch-tokens 300 --warmup 5 --learning-rate 0.01 --schedule inverse-sqrt --valid-every 10
     --max-updates 20 --dropout 0.1"
"$latest" "$BIN/train" $corpus $tiny --max-updates 100 --valid-every 50 --quiet --output base 2>err ||
    fail "the model to begin with" "$(cat err)"
tune() { "$latest" "$BIN/train" $new $run "$@"; }

tune --init base --threads 2 --output whole 2>said || fail "a run begins with a model" "$(cat said)"
check "it says so" grep -q "^begins with   weights and vocabulary of base" said
check "unknown tokens above 2 % are a warning" \
    grep -Eq "^warning +[0-9.]+ % of the source tokens are unknown" said
check "not those of the target" sh -c '! grep -q "of the target tokens are unknown, and" said'
check "config.json records the model" grep -q '"init": "base"' whole/config.json
check "and its shape" grep -q '"d_model": 16' whole/config.json
# A rate that changes nothing: the first validation is the model's own, on its own text.
"$latest" "$BIN/train" $corpus $run --init base --learning-rate 1e-8 --valid-every 1 --max-updates 1 --quiet --output still 2>err
best_loss() { sed -n '/valid/s/.*"loss":\([0-9.]*\).*/\1/p' "$1/metrics.jsonl" | sort -n | head -n 1; }
check "its weights are the model's: the loss is its best" awk -v a="$(best_loss still)" -v b="$(best_loss base)" \
    'BEGIN { exit !(a > 0 && (a - b) ^ 2 < (1e-5 * b) ^ 2) }'

# Pairs that are held out of a text that the model may have learned from.
text="--train-source train.s --train-target train.t --valid-split 30"
"$latest" "$BIN/train" $text $tiny --max-updates 5 --quiet --output split 2>err
known="^warning  *if split was trained on this text, it knows the pairs that are held out now"
"$latest" "$BIN/train" $text $run --init split --seed 2 --dry-run --output no 2>said
check "other pairs are held out" grep -q "$known" said
"$latest" "$BIN/train" $text $run --init split --dry-run --output no 2>said
check "the same pairs are" sh -c "grep -q '^validation  *30 pairs' said && ! grep -q '$known' said"

# last.safetensors of a run with an average has the same weights, and moments: neither average nor moments are taken.
losses() { sed 's/,"seconds.*//' "$1/metrics.jsonl" | grep valid; }
"$latest" "$BIN/train" $corpus $tiny --max-updates 100 --valid-every 50 --ema 0.9 --quiet --output averaged 2>err
tune --init averaged/last.safetensors --quiet --output from-last 2>err
check "last.safetensors gives its weights, and nothing else" test "$(losses from-last)" = "$(losses whole)"

# The model is validated first, and stays the best until another one is better.
tune --init base --learning-rate 1 --warmup 0 --output worse 2>said
check "the first validation is of update 0" grep -q "^validation after update 0: .*, the best loss so far" said
check "nothing was better" grep -q "^warning  *nothing was better than the model of --init" said
"$BIN/translate" --model base --beam 1 <new-valid.s >a 2>err
"$BIN/translate" --model worse --beam 1 <new-valid.s >b 2>err
check "and the model is still the best" cmp a b
"$latest" "$BIN/train" $new $run --init base --learning-rate 1 --warmup 0 --quiet --output killed 2>err &
pid=$!
until [ -s killed/last.safetensors ] || ! kill -0 $pid 2>err; do sleep 0.01; done
kill -9 $pid 2>err
wait $pid 2>err
tune --init base --learning-rate 1 --warmup 0 --quiet --output killed 2>err
check "killed in its first validation, it makes it again" test "$(losses killed)" = "$(losses worse)"

# Resuming does not read the model again.
cp -r base gone
for updates in 10 20; do tune --init gone --output "to$updates" --max-updates $updates --quiet 2>err; done
rm -r gone
check "the same command goes on without the model" tune --init gone --output to10 --threads 1
check "with the same bytes" cmp to10/last.safetensors to20/last.safetensors
check "and the same validations" test "$(losses to10)" = "$(losses to20)"

# Names that are no UTF-8, and one of the characters that stand for their bytes in JSON.
odd=$(printf 'mod\350le \303\250 \364\217\277\250')
mkdir "$odd" && cp base/best.safetensors "$odd" && cp new-train.s "$odd/s" && cp train.t "$odd/t"
for updates in 10 20; do
    check "a model, a teacher and a text of any name: $updates updates" "$latest" "$BIN/train" --train-source "$odd/s" --train-target "$odd/t" \
        --valid-source new-valid.s --valid-target valid.t $run --init "$odd" --teacher "$odd" --max-updates $updates --output odd
done
check "config.json has their names" "$latest" "$BIN/train" --config odd/config.json --output again
check "and means the same" cmp odd/best.safetensors again/best.safetensors
check "a model and a teacher of another spelling" "$latest" "$BIN/train" --config odd/config.json --output odd \
    --init "./$odd/" --teacher "$PWD/$odd"
wrong "another name is another model" 1 "started with another --init" "$latest" "$BIN/train" --config odd/config.json --output odd --init base
wrong "a run does not go on with another model" 1 "started with another --init: start a new one" \
    tune --init base --output to10
wrong "nor with one if it began without" 1 "started with another --init: start a new one" \
    tune --init base --output base
wrong "nor without one if it began with one" 1 "started with another --init: start a new one" \
    "$latest" "$BIN/train" $new $tiny $run --output to10

# What contradicts the model.
contradicts="contradicts 'base/best.safetensors', which has another one: leave it out"
wrong "another width" 2 "--d-model $contradicts" tune --init base --output no --d-model 32
wrong "another vocabulary" 2 "--vocab-size $contradicts" tune --init base --output no --vocab-size 70
wrong "another tokenizer" 2 "--tokenizer-model $contradicts" \
    tune --init base --output no --tokenizer-model x.model
wrong "another coverage" 2 "--character-coverage $contradicts" \
    tune --init base --output no --character-coverage 0.99
check "the same width is no contradiction" tune --init base --dry-run --output no --d-model 16
check "sentences may be longer than the model's" tune --init base --output long --max-length 30 --max-updates 1
wrong "no model" 2 "no model at 'nowhere'" tune --init nowhere --output no
"$BIN/translate" --model base --save-int8 int8.safetensors 2>err
wrong "a quantised model" 2 "quantised to int8, which cannot be trained: give --init the model" \
    tune --init int8.safetensors --output no

# ---- --replay ----
tune --init base --replay --weight 2 --output replayed 2>said
check "--replay adds the model's text" grep -q "^training  *900 pairs of 600 that were read" said
check "--weight repeats the new one" grep -q "^  again  *300 of them are copies" said
check "the report says how much it is" grep -q "^replayed  *300 pairs of the text of base" said
check "it goes on" tune --init base --replay --weight 2 --max-updates 21 --output replayed
wrong "without a validation text" 2 "^train: --replay needs --init, the folder of a run, and a validation text" \
    "$latest" "$BIN/train" $run --init base --replay --train-source new-train.s --train-target train.t --output no
tune --init base/best.safetensors --replay --dry-run --output no 2>said
check "a model that is named as a file" grep -q "^replayed  *300 pairs of the text of base/best" said
# The old text is read as the old run read it: other columns, a weight, and what it replayed itself.
paste train.s train.t train.s >table
seq 300 | paste -d '\t' - train.s - train.t >numbered
"$latest" "$BIN/train" $tiny --train-tsv numbered --columns 2,4 --weight 2 --valid-source valid.s --valid-target valid.t \
    --max-updates 5 --quiet --output numbers 2>err
tuned() { "$latest" "$BIN/train" --train-tsv table --columns 3,2 --valid-source valid.s --valid-target valid.t $run "$@"; }
tuned --init numbers --replay --quiet --output chain 2>err
"$latest" "$BIN/train" $corpus $run --init chain --replay --weight 3 --dry-run --output no 2>said
check "with its columns and its weight, and the text before it" grep -q "^replayed  *900 pairs of the text of chain" said
check "whose words are known" grep -q "^  unknown  *0.00 % of the source tokens, 0.00 %" said
wrong "a file that is given again" 2 "^train: 'numbered' is also the text of 'numbers', which --replay reads: leave one out" \
    tune --train-tsv numbered --columns 2,4 --init numbers --replay --output no
"$latest" "$BIN/train" $tiny --train-tsv - --valid-source valid.s --valid-target valid.t --max-updates 5 --quiet --output piped \
    <table 2>err
wrong "a text that was read from a pipe" 2 "^train: the text of 'piped' was read from a pipe, '-', which --replay cannot" \
    tune --init piped --replay --output no
mv numbered moved
wrong "a text that is gone" 1 "^train: the text of 'numbers': cannot read 'numbered'" tune --init numbers --replay --output no
for option in "--init base --replay $new" "$new"; do
    option=$(echo $option | sed 's/--train-[a-z]* [^ ]*//g')
    wrong "not the toy corpus: $option" 2 " without a training text: give one with --train-source" \
        "$latest" "$BIN/train" $run $option --output no
done
wrong "a weight without a corpus" 2 "^train: --weight takes a number from 1 to 9999 for each corpus: '2' is number 2 of 1" \
    tune --weight 3 --weight 2 --output no
wrong "a weight that is none" 2 "^train: --weight takes a number from 1 to 9999 for each corpus: '0' is number 1 of 1" \
    tune --weight 0 --output no

# ---- --extend-vocabulary ----
# A new word in new letters.
for file in train valid; do
    sed 's/one/überzeugt/g' $file.s >more-$file.s
    sed 's/ONE/ÜBERZEUGT/g' $file.t >more-$file.t
done
more="--train-source more-train.s --train-target more-train.t --valid-source more-valid.s --valid-target more-valid.t"
parts="--preset tiny --vocab-size 90 --d-model 32 --heads 2 --ffn 64 --encoder-layers 1 --decoder-layers 1 --max-length 40
       --batch-tokens 300 --warmup 5 --learning-rate 0.01 --schedule inverse-sqrt --augment 0 --dropout 0"
extend() { "$latest" "$BIN/train" $more $run --dropout 0 --augment 0 --max-updates 100 --valid-every 50 --extend-vocabulary 30 "$@"; }
for type in bpe unigram; do
    "$latest" "$BIN/train" $corpus $parts --tokenizer $type --max-updates 200 --valid-every 100 --quiet --output $type 2>err ||
        fail "a model of subwords ($type)" "$(cat err)"
    "$latest" "$BIN/train" $more $run --init $type --dry-run --output no 2>said
    check "characters that are lost name the option ($type)" grep -q "^  lost .*--extend-vocabulary N adds them" said
    extend --init $type --threads 2 --output more-$type 2>said || fail "more tokens ($type)" "$(cat said)"
    check "the report says how many, and what they save ($type)" \
        grep -Eq "^extended +by [0-9]+ tokens, [0-9]+ of them characters: the new text has [0-9.]+ % fewer tokens" said
    check "nothing is unknown or lost ($type)" sh -c '! grep -q "lost  " said && grep -q "^  unknown  *0.00 %.* 0.00 %" said'
    check "the new word is translated ($type)" sh -c "'$BIN/translate' --model more-$type two überzeugt | grep -q ÜBERZEUGT"
    [ $type = bpe ] || continue
    extend --init $type --threads 1 --max-updates 40 --quiet --output stop-$type 2>err
    check "stopped and resumed with one thread ($type)" extend --init $type --threads 1 --output stop-$type
    check "the same bytes ($type)" cmp more-$type/last.safetensors stop-$type/last.safetensors
done
check "with the old text" extend --init bpe --replay --weight 2 --output both
check "the old text is still translated" awk -v exact="$(sed -n '/valid/s/.*"chrf":\([0-9.]*\).*/\1/p' both/metrics.jsonl | tail -n 1)" \
    'BEGIN { exit !(exact > 50) }'
wrong "a run does not go on with another number" 1 "started with another --extend-vocabulary" \
    extend --init bpe --extend-vocabulary 31 --output more-bpe
wrong "words" 1 "base/best.safetensors: --extend-vocabulary adds subwords .* and this one is of words" \
    extend --init base --output no
wrong "no model to extend" 2 "--extend-vocabulary goes with --init: give that, too" extend --output no
wrong "a tokenizer of one's own" 2 "--tokenizer-model contradicts" extend --init bpe --tokenizer-model x.model --output no
"$latest" "$BIN/train" $corpus $parts --vocabulary separate --tying decoder --max-updates 5 --quiet --output two 2>err
check "two vocabularies" extend --init two --max-updates 5 --valid-every 5 --output more-two

# ---- --freeze ----
wrong "no such part" 2 "--freeze takes encoder, decoder or embeddings, not 'head'" \
    tune --freeze encoder,head --output no
wrong "nothing to train" 2 "leaves nothing to train" \
    tune --freeze encoder,decoder --freeze embeddings --output no
tune="--init base --freeze encoder,embeddings --ema 0.9 --weight-decay 0.1"
tune $tune --threads 2 --output frozen 2>said || fail "frozen parts" "$(cat said)"
check "they are named, and what is shared" \
    grep -q "^frozen        encoder,embeddings; the target's embedding is also the output layer" said
tune $tune --threads 1 --max-updates 10 --output stopped --quiet 2>err
check "one thread, stopped and resumed" tune $tune --threads 1 --output stopped
check "the same bytes" cmp frozen/last.safetensors stopped/last.safetensors
wrong "it goes on only with the same parts frozen" 1 "another --freeze: start .*, or give the options of its config.json$" \
    tune --init base --ema 0.9 --weight-decay 0.1 --output stopped
tune --init base --freeze encoder --freeze embeddings --ema 0.9 --weight-decay 0.1 --output twice 2>err
check "--freeze may be repeated" test "$(losses frozen)" = "$(losses twice)"
check "it makes a difference" test "$(losses frozen)" != "$(losses whole)"
