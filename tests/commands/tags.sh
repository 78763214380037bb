#!/bin/sh
# tags.sh -- a first word such as ">>one<<" that says what to translate to: one token, for every sentence of a text.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh

# This language has two others: its words in capitals, and these backwards.
language 300 40
for set in train valid; do
    { sed 's/^/>>back<< /; s/$/./' $set.s; sed 's/^/>>same<< /; s/$/./' $set.s; } >$set.from
    { sed 's/$/./' $set.t; tr a-z A-Z <$set.s | sed 's/$/./'; } >$set.to
done
learn() { "$latest" "$BIN/train" $tiny --warmup 20 --learning-rate 0.01 --max-updates 400 --valid-every 400 --train-source train.from \
    --train-target train.to --valid-source valid.from --valid-target valid.to "$@" 2>err; }
check "a model learns both" learn --output run --augment 0.3
translate() { "$BIN/translate" --quiet --model run "$@"; }
is() { check "$1" test "$2" = "$3"; }

is "a tag is a token" "$(translate --json --show '>>same<< one two.' | sed 's/.*"columns":\["\([^]]*\)"\].*/\1/; s/","/ /g')" \
    ">>same<< ▁one ▁two ▁. </s>"
is "the vocabulary begins with them" "$(translate --list-vocabulary | sed -n '9,10p' | cut -f 1 | tr '\n' ' ')" ">>back<< >>same<< "
is "a space after it or not" "$(translate '>>back<<one two three.')" "$(translate '>>back<< one two three.')"
lines='one two.
two five.
three four one.'
translate ">>same<< $lines" >out
for line in "one two." "two five." "three four one."; do translate ">>same<< $line"; done >each
check "it is that of every sentence" cmp out each
is "a tag alone gives nothing" "$(translate '>>same<<')" ""
is "words are counted with it" "$(translate --json '>>same<< one two.' | sed 's/.*"source":\[\([0-9,]*\)\].*/\1/')" "9,17"
wrong "no tag" 1 "^translate: 'one two.' begins with no tag that the model has learned, which are >>back<< >>same<<" translate "one two."
wrong "another tag" 1 "^translate: '>>new<< one two.' begins with no tag" translate ">>new<< one two."
is "an empty line needs none" "$(printf '>>same<< one two.\n\n' | translate | wc -l)" 2
translate --reference valid.to <valid.from >/dev/null 2>scores
check "each has its scores" grep -qx ">>back<<  bleu [0-9.]*  chrf2 [0-9.]*  chrf2pp [0-9.]*  ter [0-9.]*  of 40 lines" scores
grep '>>same<<' valid.from >same.from
paste -d'|' valid.from valid.to | sed -n 's/^>>same<<.*|//p' >same.to
translate --reference same.to <same.from 2>&1 >/dev/null | grep '^>>' >alone
is "which are those of its lines alone" "$(grep '>>same<<' scores)" "$(cat alone)"
paste -d'|' valid.from valid.to | sed 's/^>>back<<.*/เขาบอกว่า ฝนจะตก/; s/^>>same<<.*|//' >thai.to
translate --reference thai.to <valid.from 2>&1 >/dev/null | grep spaces >said
check "references of one tag without spaces are named" grep -q "the references of >>back<< have hardly any spaces" said
is "pairs are scored with it" "$(paste valid.from valid.to | translate --score | wc -l)" 80

sed -i 's/^>>\([a-z]*\)<</[2\1]/' train.from valid.from
check "another form, by its pattern" learn --output other --tag '\[2*\]' --max-updates 5
wrong "with which alone the run goes on" 1 "started with another --tag: " learn --output other --max-updates 9
is "is a token, too" "$("$BIN/translate" --model other --list-vocabulary | sed -n '1,12p' | grep -c '^\[2[a-z]*\]')" 2
"$latest" "$BIN/train" $tiny --train-source train.from --train-target train.to --valid-source valid.from --valid-target valid.to \
    --tag '\[2*\]' --dry-run --output none 2>said
check "the report counts them" grep -q "^  tags  *\[2back\] (300), \[2same\] (300)$" said
sed 's/^.2same. //' valid.from >bare.from
"$latest" "$BIN/train" $tiny --train-source train.from --train-target train.to --valid-source bare.from --valid-target valid.to \
    --tag '\[2*\]' --dry-run --output none 2>said
check "and sentences of the validation without" grep -q "^warning  *40 of 80 sentences of the validation begin with no tag" said
wrong "a tag that matches nothing" 1 "^train: no source sentence begins with a word that matches --tag '<2\*>'" \
    "$latest" "$BIN/train" $tiny --train-source train.from --train-target train.to --tag '<2*>' --output none
sed '7s/ //' train.from >narrow.from
wrong "no space after it" 1 "^train: narrow.from:7: there is no space after the tag '.2back.'" \
    "$latest" "$BIN/train" $tiny --train-source narrow.from --train-target train.to --tag '\[2*\]' --output none
sed 's/same/new/' train.from >new.from
wrong "one that the vocabulary lacks" 1 "^train: the training text has the tag '.2new.', for which the vocabulary has no token" \
    "$latest" "$BIN/train" --init other --train-source new.from --train-target train.to --tag '\[2*\]' --output none
seq 2000 | sed 's/.*/[w&] a\tb/' >many
wrong "words" 1 "^train: '[A-Z]*' matches the tags '.A-Z..', but a tag begins and ends with punctuation" \
    "$latest" "$BIN/train" --train-source train.t --train-target train.s --tag '[A-Z]*' --dry-run --output none
wrong "too many" 1 "^train: more than 1000 different words match the tags '\*'" \
    "$latest" "$BIN/train" --force --train-tsv many --tag '*' --dry-run --output none
