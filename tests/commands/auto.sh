#!/bin/sh
# auto.sh -- what ./train chooses by itself: from the text, and for a time; what is given has precedence.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh

language 400 60
shape="--d-model 16 --heads 2 --ffn 32 --encoder-layers 1 --decoder-layers 1"
small="--tokenizer word --normalization identity --vocab-size 60 $shape --max-length 20 --seed 3"
auto() { "$latest" "$BIN/train" $corpus "$@" >out 2>err; }
says() { if grep -q -- "$2" err; then pass "$1"; else fail "$1" "$(cat err)"; fi; }
# has NAME OPTION VALUE: in config.json of the folder run.
has() {
    if grep -q "\"$2\": $3,*\$" run/config.json; then pass "$1"
    else fail "$1" "$(grep "\"$2\"" run/config.json)"; fi
}
# value OPTION: in it.
value() { sed -n "s/.*\"$1\": \([^,]*\),*\$/\1/p" run/config.json; }

auto --dry-run --output run
check "auto is the default for a corpus" test $? -eq 0
says "and says so" "^automatic  *as the text has about [0-9,]* words in [0-9,]* pairs; options override it:$"
says "how it learns" "^  learns with Muon, rate 0.00[35], dropout [0-9.]*"
says "how long" "^  for *[0-9,]* updates of [0-9]* tokens: [0-9.]* times through the text$"
says "what it multiplies" "^  products *\(bf16\|float\)"
auto_larger() { (corpus=$(echo "$corpus" | sed 's/train[.]/many./g') && auto "$@"); }
auto $small --dry-run --output run
sized=$(grep "^automatic" err)
auto $small --weight 3 --dry-run --output run
check "copies make no larger network" test "$(grep "^automatic" err)" = "$sized"
# Twice as many pairs, of which none is a copy.
for side in s t; do awk '{ for (k = 0; k < 2; k++) print $0, "number", k }' train.$side >many.$side; done
auto_larger $small --dry-run --output run
says "with R-Drop" "dropout 0.2 and R-Drop, since it will read each sentence often$"
auto_larger $small --max-updates 20 --dry-run --output run
says "few updates do without R-Drop" "dropout 0.2 and no R-Drop, which takes more updates$"
auto_larger $small --max-updates 20 --r-drop 2 --optimizer adam --patience 3 --dry-run --output run
says "what is given has no reason" "^  learns with Adam, rate .* and R-Drop$"
says "and ends earlier" "^  for  *at most 20 updates"
auto_larger $small --r-drop 0 --max-updates 0 --dry-run --output run
says "no R-Drop because it is not wanted" "and no R-Drop$"
check "no number of updates that has no limit" sh -c '! grep -q "^  for" err'
for precision in bf16 float; do
    auto $small --precision $precision --dry-run --output run
    sed -n 's/^  products *//p' err >>products
done
check "a reason for one of two precisions" test "$(grep -c processor products)" -eq 1
auto --weight 2 --d-model 64 --dry-run --output run
says "the heads divide a width that is given" "^model .* width 64, 4 heads"
awk '{ print $1 }' train.s | sed 's/$/x/' >word.s && awk '{ print $1 NR % 7 }' train.t | sed 's/./& /g' >word.t
"$BIN/train" --train-source word.s --train-target word.t $shape --dry-run --output run 2>err
says "single words are spelled" "^vocabulary .* tokens (char)$"
for side in s t; do
    awk 'NR % 50 == 0 { for (k = 0; k < 80; k++) printf "%s ", $0 } { print }' train.$side >long.$side
done
"$BIN/train" --train-source long.s --train-target long.t $shape --max-updates 1 --quiet --output long 2>err
check "long sentences are read" grep -q '"max_length": 512' long/config.json
auto $small --preset tiny --dry-run --output run
check "no word of it with another preset" sh -c '! grep -q "^automatic" err'

auto $small --max-updates 4 --valid-translations 0 --output run
has "the loss where nothing is translated" best '"loss"'
rm -rf run
auto $small --max-updates 12 --dropout 0.25 --output run
check "a run" test $? -eq 0
has "the optimizer that was chosen" optimizer '"muon"'
has "an option that was given" dropout 0.25
has "the warm-up follows the updates" warmup 2
has "one validation" valid_every 12
auto $small --max-updates 15 --output run
has "a run that goes on keeps what was chosen" warmup 2
has "and what was given" dropout 0.25
says "and goes on" "^done: 15 updates"
auto --dropout 0.25 --max-updates 15 --output run
check "with less on its command line, too" test $? -eq 0
wrong "but not with another shape" 1 "started with another --d-model" "$latest" "$BIN/train" $corpus --d-model 32 --output run

rm -rf run
auto $small --max-epochs 5 --output run
has "the warm-up follows the epochs" warmup "$(($(sed -n 's/^done: \([0-9]*\) updates.*/\1/p' err) / 6))"
check "and the schedule ends with them" awk '
    /"learning_rate"/ { sub(/.*"learning_rate":/, ""); rate = $0 + 0 } END { exit !(rate < 1e-3) }' run/metrics.jsonl
auto $small --max-updates 0 --max-epochs 2 --dry-run --output other
says "so it is without a number of updates" "^  for  *[1-9][0-9]* updates .*: 2[.0-9]* times through the text$"

# --time: the updates that fit, and the same bits as a run of so many.
rm -rf run
begin=$(date +%s)
auto $small --time 3s --threads 1 --output run
check "--time" test $? -eq 0
took=$(($(date +%s) - begin)) updates=$(value max_updates)
check "ends in its time, or with all that helps" test "$took" -le 15
auto $small --time 7s --threads 1 --output run
says "a longer one is too late" "^--time is fixed when a run begins, and gave this one $updates updates$"
says "more updates are not" "has reached its --time; a larger --max-updates goes on$"
mv run timed
auto $small --max-updates "$updates" --threads 1 --output run
check "--time 3s has the same bits as --max-updates $updates" cmp run/best.safetensors timed/best.safetensors
rm -rf run
auto_larger --time 1s --max-updates 20 --threads 1 --output run
has "in little time it learns without R-Drop" r_drop 0
says "a time that is given up" "--max-updates 20 takes longer than --time 1s: leave one out$"
says "and what ended it" "^done: 20 updates in .* (--max-updates)"
rm -rf run
auto_larger --time 1s --max-updates 0 --max-epochs 1 --threads 1 --output run
says "so is one without a number of updates" "--max-updates 0 takes longer than --time 1s: leave one out$"
rm -rf run
for time in 5 5x m -5m nanm infh 1e9h; do
    wrong "--time $time" 2 "^train: --time takes a number with its unit, such as 90s, 30m or 2h, not '$time'$" \
        "$latest" "$BIN/train" $corpus "--time=$time" --dry-run
done
wrong "--time with another preset" 2 "goes with --preset auto" "$latest" "$BIN/train" $corpus --preset tiny --time 5m --dry-run

# A language without spaces is scored by characters.
for letters in "え い お char" "水 火 山 zh"; do
    set -- $letters
    for text in train valid; do sed "s/ //g; s/E/$1/g; s/I/$2/g; s/O/$3/g; s/[A-Z]/$1/g" $text.t >$text.joined; done
    "$latest" "$BIN/train" $small --train-source train.s --train-target train.joined --valid-source valid.s --valid-target valid.joined \
        --tokenizer char --max-length 60 --max-updates 2 --quiet --output run
    has "characters for a language without spaces: $4" bleu_tokenize "\"$4\""
    rm -rf run
done

# From a model: its shape and its vocabulary.
auto $small --max-updates 4 --init timed --output run
check "from a model" test $? -eq 0
has "its shape" d_model 16
rm -rf run

if mpi_here; then
    check "two ranks" mpirun -n 2 "$latest" "$BIN/train" $corpus $small --threads 1 --accumulators 2 --max-updates 6 --quiet --output run
    mv run ranks
    auto $small --threads 1 --accumulators 2 --max-updates 6 --output run
    check "choose the same" cmp run/best.safetensors ranks/best.safetensors
    rm -rf run
    check "two ranks have a time together" mpirun -n 2 "$latest" "$BIN/train" $corpus $small --d-model 64 --threads 1 --time 2s --quiet --output run
    rm -rf run
    large="--train-source many.s --train-target many.t --valid-source valid.s --valid-target valid.t $small --threads 1 --accumulators 2"
    check "for a larger text, too" mpirun -n 2 "$latest" "$BIN/train" $large --time 1s --quiet --output run
    "$latest" "$BIN/train" $large --max-updates "$(value max_updates)" --quiet --output one 2>err
    check "with the bits of one process" cmp run/best.safetensors one/best.safetensors
else
    echo "skipped ranks: there is no MPI"
fi
