#!/bin/sh
# intervene.sh -- ./translate --ablate and --intervene on the toy model that comes
# with qkv: what is printed where, and what goes with what.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh
toy=$here/data/toy
translate() { "$BIN/translate" --model "$toy/model.safetensors" "$@"; }
text="the old man does not eat"
plain="le vieil homme ne mange pas de vieil homme"
changed="le vieil homme ne mange de vieil homme"
head -n 20 "$toy/test.en" >s
head -n 20 "$toy/test.fr" >t
head -n 20 "$toy/test.align" >gold

# Head 4 of the decoder's first layer tells the model that "ne" came before.
translate "$text" >out 2>err
check "the model as it was trained" test "$(cat out)" = "$plain"
translate --ablate decoder.1.4=zero "$text" >out 2>err
check "standard output has the translation of the changed model" test "$(cat out)" = "$changed"
for options in --int8 "--beam 1 --model $toy/model.safetensors"; do
    # shellcheck disable=SC2086
    check "also with $options" test "$(translate --ablate decoder.1.4=zero $options "$text")" = "$changed"
done
translate --ablate decoder.1.4=zero --ablate encoder.1.1=uniform "$text" >both 2>err
translate --ablate encoder.1.1=uniform --ablate decoder.1.4=zero "$text" >out 2>err
check "several, in any order" cmp both out

check "JSON" sh -c '"$@" | grep -q "^{\"line\":1,\"unknown\":\[\],\"text\":\"$0\","' "$changed" \
    "$BIN/translate" --model "$toy/model.safetensors" --ablate decoder.1.4=zero --json "$text"
translate --ablate decoder.1.4=zero --json --show "$text" | weights >table
check "attention weights are of the changed model" sh -c '! grep -q pas table && grep -q mange table'

translate --ablate decoder.1.4=zero --attention-kind decoder --head 4 --layer 1 --show --attention one.png --quiet "$text" >out
check "--show and --attention show the changed model" sh -c '! grep -q "^ *pas " out && grep -q "^ *mange " out &&
    grep -aq "Translation.$0" one.png' "$changed"
translate --ablate decoder.1.4=zero --given "$plain" --attention given.png "$text" >out 2>err
check "--given shows a translation that the changed model does not make" grep -aq "Translation.$plain" given.png
translate --ablate decoder.1.4=zero --attention page.html "$text" >out 2>err
check "a page is of the changed model" sh -c 'test -s page.html && ! grep -q "\"pas\"" page.html'
translate --ablate cross.2.3=uniform --explain --attention-kind cross --layer 2 --head 3 "$text" >out 2>err
check "--explain explains the changed head" grep -q "^  pas  .* 0\.1429 " out

for option in --ablate=encoder.2.1=zero --intervene=scale=0.1 --intervene=positions=0 --intervene=wq=wk; do
    translate --score --target t <s >before 2>err
    translate --score --target t $option <s >after 2>err
    check "--score $option" sh -c 'test "$(wc -l <after)" = 20 && ! cmp -s before after'
    translate --align --target t --gold gold $option <s >out 2>err
    check "--align --gold $option" grep -q '^Alignment error rate of 20 pairs' out
    check "--reference $option" sh -c '"$0" "$@" <s >out 2>err && grep -q "^BLEU" err' \
        "$BIN/translate" --model "$toy/model.safetensors" --reference t $option
done
# Without weights the head adds nothing; with scale=0 all are uniform, as with every head named.
translate --score --target t --intervene scale=0 <s >zero 2>err
list=
for kind in encoder decoder cross; do for layer in 1 2; do list="$list --ablate=$kind.$layer.*=uniform"; done; done
set -f
# shellcheck disable=SC2086
translate --score --target t $list <s >uniform 2>err
set +f
check "scale=0 makes every head uniform" cmp zero uniform

wrong "a head that does not exist" 1 "model.safetensors: --ablate cross.2.5=zero: the model has 2 decoder layers of 4 heads: cross.1.1 to cross.2.4$" \
    translate --quiet --ablate cross.2.5=zero one
wrong "no head" 2 "^translate: --ablate takes KIND.LAYER.HEAD=zero or =uniform, .* not 'cross=zero'$" translate --ablate cross=zero one
wrong "all heads and one" 2 "not 'cross.2.1\*=zero'$" translate --ablate 'cross.2.1*=zero' one
wrong "no such change" 2 "^translate: --intervene takes positions=0, wq=wk or scale=X .* not 'scale=big'$" translate --intervene scale=big one
wrong "two scales" 2 "one scale=X, not 'scale=3', too$" translate --intervene scale=2 --intervene scale=3 one
wrong "nothing to translate" 2 "do not go with --save-int8" translate --intervene wq=wk --save-int8 x.safetensors
translate --save-int8 small.safetensors 2>err
wrong "weights in int8" 1 "need float weights, and this file has int8" "$BIN/translate" --model small.safetensors --ablate cross.1.1=zero one

# What the model of one update says does not matter: its translation is given.
language 200 20
for projections in kv-shared none; do
    # shellcheck disable=SC2086
    "$BIN/train" $corpus $tiny --projections $projections --quiet --max-updates 1 --output run-$projections 2>err
    "$BIN/translate" --model run-$projections --ablate encoder.1.2=uniform --given "TWO ONE" --json --show --head 2 \
        --attention-kind encoder "one two" | weights >map
    check "a uniform head of a model with --projections $projections" awk -F '\t' \
        '{ n++; if (($9 - 1 / 3) ^ 2 > 1e-9) bad = 1 } END { exit bad || n != 9 }' map
done

head -n 5 s >few
head -n 5 t >few.t
head -n 5 gold >few.gold
BIN=$BIN "$here/scripts/rank-heads" "$toy/model.safetensors" few few.t few.gold >out 2>err
check "rank-heads prints a line for each of 24 heads" sh -c 'test ! -s err && test "$(grep -cE "^(encoder|decoder|cross)[.][12][.][1-4] +[0-9.]+ +[-+][0-9.]+ +0[.][0-9]+ +[-+][0-9.]+$" out)" = 24'
check "the head that is missed most first" awk 'NR > 2 && $2 < last { bad = 1 } { last = NR > 1 ? $2 : 0 } NR == 2 { last = 0 } END { exit bad }' out
translate --ablate cross.2.4=zero --quiet --reference few.t <few >ref 2>err
check "its BLEU is that of --reference" grep -q "^cross.2.4  *$(sed -n 's/^BLEU[^=]* = \([0-9.]*\) .*/\1/p' err) " out
translate --ablate cross.2.4=zero --align --target few.t --gold few.gold <few >table 2>err
check "its AER is that of --align" grep -q "^cross.2.4 .* $(sed -n '/^all/{s/.* //p;q;}' table) " out
wrong "rank-heads with a missing model" 1 "no model at" env BIN="$BIN" "$here/scripts/rank-heads" none few few.t
