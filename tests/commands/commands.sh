#!/bin/sh
# commands.sh -- ./train and ./translate from the command line: output, exit status, files, and one
# sentence for each error. resume.sh stops and resumes trainings.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh

language 400 60
gzip -k train.s
printf 'one two\nthree\n' >two.s

tiny="$tiny --micro-tokens 60 --valid-every 10"
corpus="--train-source train.s.gz --train-target train.t --valid-source valid.s --valid-target valid.t"
train() { "$latest" "$BIN/train" $corpus $tiny "$@"; }
translate() { "$BIN/translate" "$@"; }

# ---- a run ----
train --max-updates 20 --output run >out 2>err
check "train runs" test $? -eq 0
check "training prints nothing to standard output" test ! -s out
check "training prints its progress" grep -q "^validation after update 20: loss" err
for file in last.safetensors best.safetensors metrics.jsonl config.json loss.png attention.png; do
    check "train leaves $file" test -s "run/$file"
done
check "metrics are one object a line" sh -c \
    'test "$(grep -c "^{\"type\":\"train\",\"update\":.*}$" run/metrics.jsonl)" = 20 &&
     test "$(grep -c "^{\"type\":\"valid\",\"update\":.*}$" run/metrics.jsonl)" = 2'
check "no temporary file is left" sh -c 'test -z "$(ls run | grep -i tmp)"'
train --quiet --max-updates 3 --output quiet >out 2>err
check "--quiet is quiet" test $? -eq 0 -a ! -s out -a ! -s err
check "config.json starts the same run" sh -c \
    "'$BIN/train' --config run/config.json --output same --quiet &&
     cmp run/last.safetensors same/last.safetensors"

# ---- another network ----
other="--activation gelu --norm pre --positions learned --tying none --max-updates 12 --quiet"
drops="--dropout 0.2 --activation-dropout 0.1"
train $other $drops --threads 1 --output other >out 2>err
check "a network with other options trains" test $? -eq 0
train $other $drops --threads 3 --output other3 2>err
check "3 threads leave the same bytes as 1, there too" cmp other/last.safetensors other3/last.safetensors
train $other $drops --threads 2 --output otherparts --max-updates 7 2>err
train $other $drops --threads 2 --output otherparts 2>err
check "and so does a run that stopped and went on" cmp other/last.safetensors otherparts/last.safetensors
check "config.json has the options" sh -c '
    for option in activation.*gelu norm.*pre positions.*learned tying.*none; do
        grep -q "\"${option%%.*}\": *\"${option##*\*}\"" other/config.json || exit 1
    done'
check "it translates" sh -c "test \"\$('$BIN/translate' --model other <valid.s | wc -l)\" = 60"
check "and draws" sh -c "'$BIN/translate' --model other --attention other.png 'one two' && test -s other.png"
check "a configuration without them is the network of old" sh -c "
    sed -E '/\"(activation|norm|positions|tying)\"/d' run/config.json >older.json &&
    ! grep -q tying older.json && '$BIN/train' --config older.json --output older --quiet &&
    cmp run/last.safetensors older/last.safetensors"

# ---- translating ----
translate --model run <valid.s >greedy.out 2>err
check "one line out for one line in" sh -c 'test "$(wc -l <greedy.out)" = 60'
for way in --whole-words "--head max --attention-kind all" "--head rollout --attention-kind encoder"; do
    # shellcheck disable=SC2086
    check "--attention draws with $way" sh -c \
        "rm -f way.png && '$BIN/translate' --model run --attention way.png $way 'one two' && head -c 4 way.png | grep -q PNG"
done
check "a picture says what it is of" sh -c \
    "'$BIN/translate' --model run --attention said.png --layer 1 --head 2 'one two' &&
     for text in 'Model.run' 'Source.one two' 'Head.head 2' 'Layer.1'; do grep -aq \"\$text\" said.png || exit 1; done"
check "--given is printed, and its attention drawn" sh -c \
    "test \"\$('$BIN/translate' --model run --attention given.png --given 'TWO ONE' 'one two')\" = 'TWO ONE' &&
     grep -aq 'Translation.TWO ONE' given.png"
for format in svg pdf; do
    translate --model run --attention "look.$format" --quiet "one two" >out
    cp "look.$format" "first.$format"
    translate --model run --attention "look.$format" --quiet "one two" >out
    check "--attention draws $format, twice the same" cmp "look.$format" "first.$format"
done
check "what only pictures or ranks need is not loaded at the start" sh -c '! ldd "$0" | grep -e pango -e cairo -e libmpi' "$BIN/translate"
mkdir hollow && : >hollow/libpangocairo-1.0.so.0
wrong "pictures without Pango" 1 "cannot load Pango.*install libpangocairo-1.0-0" sh -c 'LD_LIBRARY_PATH=hollow "$0" "$@" >no-picture.out' \
    "$BIN/translate" --model run --quiet --attention none.png "one two"
check "and its translation" test -s no-picture.out
# A character that no font has: U+0378 is not assigned.
printf 'a\315\270b\nb\315\270a\n' >strange.s
"$latest" "$BIN/train" --train-source strange.s --train-target strange.s --valid-source strange.s \
    --valid-target strange.s $tiny --force --tokenizer char --vocab-size 8 --max-updates 1 --output strange 2>err
check "./train names a character without a font once, with a package" sh -c \
    'test "$(grep -c "no font for .*: install one, such as fonts-noto-core$" err)" = 1'
"$BIN/translate" --model strange --attention strange.png "$(sed -n 1p strange.s)" "$(sed -n 2p strange.s)" >out 2>err
check "a character without a font is named once, with a package" sh -c \
    'test "$(grep -c "no font for .*: install one, such as fonts-noto-core" err)" = 1'
# U+3FFF0 … U+3FFFF are not assigned either, beside Chinese characters.
many=$(for i in 0 1 2 3 4 5 6 7; do printf "\\360\\277\\277\\26$i \\360\\277\\277\\27$i "; done; printf 'a\315\270b')
"$BIN/translate" --model "$here/data/toy/model.safetensors" --attention strange.png --given jane "$many" >out 2>err
check "every package that is needed, and that the list is cut" grep -q \
    "no font for .* … (boxes in the picture): install some, such as fonts-noto-cjk, fonts-noto-core$" err
"$BIN/translate" --model strange --attention strange.png --quiet "$(sed -n 1p strange.s)" >out 2>err
check "--quiet names none" test ! -s err
check "an SVG names its sentence" grep -q "^<title>one two → " look.svg
"$BIN/translate" --model run --attention look.svg --quiet --given "ذهبت. two" "one" >out
check "and its translation from right to left, in that order, behind it" grep -q "^<title>$(printf '\342\200\216one → \342\201\247')ذهبت. two$(printf '\342\201\251')<" look.svg
check "a PDF is one" sh -c 'head -c 7 look.pdf | grep -q "%PDF-1."'
! command -v xmllint >/dev/null || check "an SVG is valid XML" xmllint --noout look.svg
! command -v pdftotext >/dev/null ||
    check "the words of a PDF can be searched" sh -c 'pdftotext look.pdf - | grep -q "^one two"'

# ---- what can be wrong: options ----
wrong "unknown option" 2 "unknown option '--lerning-rate'.*--learning-rate" train --lerning-rate 1
wrong "heads and width" 2 "heads 3 does not divide" train --heads 3
wrong "no such preset" 2 "toy, tiny, small, base or auto" train --preset huge
wrong "a text where none belongs" 2 "stray" train stray
wrong "sources without targets" 2 "go in pairs" "$latest" "$BIN/train" --train-source train.s
wrong "rollout of cross-attention" 1 "rollout is of self-attention: choose --attention-kind" translate --model run --head rollout --show one
wrong "the largest weights explained" 1 "one head is explained" translate --model run --head max --explain one
check "the largest weights are not for a page" sh -c "! '$BIN/translate' --model run --head max --attention x.html one 2>err && grep -q 'head max is for pictures' err && test ! -e x.html"
wrong "a head that is none" 2 "must be a number from 1" translate --show --head x one
wrong "a head that the model does not have" 1 "a layer of the model has 2 heads" \
    translate --model run --attention look.png --head 5 one
wrong "--given for two texts" 2 "one TEXT" translate --given ONE one two
wrong "--given and --n-best" 2 "n-best" translate --given ONE --n-best 2 one
wrong "--given that is no UTF-8" 2 "not valid UTF-8 (byte 2)" \
    translate --given "$(printf 'o\377')" one
wrong "--prefix that is no UTF-8" 2 "not valid UTF-8 (byte 2)" \
    translate --prefix "$(printf 'o\377')" one

# ---- what can be wrong: text ----
bad() { name=$1 pattern=$2; shift 2; wrong "$name" 1 "$pattern" "$latest" "$BIN/train" $tiny --output bad "$@"; }
valid="--valid-source valid.s --valid-target valid.t"
bad "missing file" "no/such.s.*No such file" --train-source no/such.s --train-target train.t $valid
bad "a corpus too small to hold some out" "too small" --train-source two.s --train-target two.s --force
scores="--hypothesis valid.t --reference valid.t"
for way in "--model run one" "$scores" "$scores --json" "--help" "-h" "--version" \
    "--model run --list-vocabulary"; do
    [ ! -c /dev/full ] || wrong "nowhere to print to: $way" 1 "No space left" sh -c \
        "'$BIN/translate' $way >/dev/full"
done
for way in --help -h --version; do
    [ ! -c /dev/full ] || wrong "train: nowhere to print $way to" 1 "No space left" sh -c "'$BIN/train' $way >/dev/full"
done

# ---- what can be wrong: models and folders ----
wrong "no model yet" 1 "no model at 'nowhere'.*train" translate --model nowhere one
for option in "--seed 2" "--layer 1" --lowercase "--trials 9" "--from one" --pieces; do
    # shellcheck disable=SC2086
    wrong "$option that nothing reads" 2 "${option% *} goes with --" translate $option one
done
wrong "no model at all" 2 "leaves no model" translate --no-model one
wrong "no model to export" 2 "leaves no model" translate --no-model --export out
wrong "a picture beside an export" 2 "only --model goes" translate --export out --attention a.png
wrong "scores beside a vocabulary" 2 "print words and stop" translate --list-vocabulary --reference s
wrong "a vocabulary and neighbours" 2 "give one of them" translate --list-vocabulary --neighbours one
wrong "a vocabulary beside an export" 2 "only --model goes" translate --export out --list-vocabulary
wrong "an explanation of scores" 2 "does not go with .*--explain" translate --score --explain one
wrong "a prefix of given translations" 2 "nothing is translated: leave out" translate --align --target file --prefix one two
wrong "a reference without a model" 2 "and nothing else" translate --align --no-model --reference file
mkdir hollow
wrong "a folder without a model" 1 "no model in 'hollow'" translate --model hollow one
ln -s gone.safetensors hollow/best.safetensors
cp run/best.safetensors hollow/last.safetensors
wrong "a model on a disk that is gone" 1 "'hollow/best.safetensors': it is a link to a file that is missing" translate --model hollow one
{ head -c 20000 run/best.safetensors; printf '\252\252'; tail -c +20003 run/best.safetensors; } >broken
wrong "a wrong checksum" 1 "broken.*checksum" translate --model broken one
: >file
wrong "an output folder that cannot be made" 1 "file" "$latest" "$BIN/train" $corpus $tiny --output file/run --quiet
wrong "another model in the folder" 1 "started with another --d-model" \
    "$latest" "$BIN/train" $corpus $tiny --d-model 32 --output run
