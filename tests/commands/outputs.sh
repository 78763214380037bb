#!/bin/sh
# outputs.sh -- all that ./translate shows, with every kind of vocabulary: each output is made, is clean, and
# has a line for each line or token; and pictures whose memory has a limit.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh
LC_ALL=C
export LC_ALL

# spm TYPE PIECE...: a SentencePiece model, as protobuf: unigram (1) or BPE (2). A piece is its type (1 normal,
# 4 user-defined) and its text, of at most 99 bytes, for printf %b.
octal() { printf '\\%03o' "$1"; }
spm() {
    type=$1 n=0 none='\377\377\377\377\377\377\377\377\377\001'
    shift
    for piece in '3</s>' '2<unk>' "$@"; do
        text=$(printf '%b.' "${piece#?}") n=$((n + 1))
        text=${text%.}
        printf "\\012$(octal $((${#text} + 9)))\\012$(octal ${#text})%s" "$text"
        printf "\\025\\000\\000$(octal $n)\\301\\030$(octal "${piece%"${piece#?}"}")"
    done
    printf "\\022\\040\\030$(octal "$type")\\300\\002\\001\\310\\002$none\\320\\002\\000\\330\\002$none"
    printf '\032\020\012\010identity\030\001\040\001\050\001'
}
space='\342\226\201' escape=$(printf '\033')
spm 1 "1${space}one${space}two" "1${space}three${space}four${space}five" "1${space}o" 1n 1e "1${space}ONE${space}TWO" >phrases.model
spm 2 "4<name>" "4a\\tb" "4\\033[2J" "4\\n" "4\\r" "1${space}o" 1n 1e 1N 1E "1${space}O" >symbols.model
spm 1 "1${space}one" >one.model

# ---- the outputs ----
{
    echo "one two"
    echo
    printf 'zero <name> a\tb \303\251 \342\234\273 %s[2J\302\233 one\n' "$escape"
    for i in 1 2 3 4 5 6 7 8; do printf 'ninetyninehundredandninetynineNNNN'; done
    printf '\nONE TWO\377\n'
} >lines
tr A-Z a-z <lines >small
# bad (+=) NAME, unless the rest succeeds.
step() {
    name=$1
    shift
    "$@" >step.out 2>step.err || bad="$bad $name ($(tail -n 1 step.err));"
}
translate() { "$BIN/translate" --quiet --model "$run" "$@"; }
clean() { ! grep -q "$(printf '[\001-\010\013-\037\177]')\|$(printf '\302\233')" "$@"; }
count() { test "$(wc -l <"$2")" -eq "$1"; }
# made NAME LINES OPTIONS...: so many lines from the lines.
made() {
    what=$1 number=$2
    shift 2
    step "$what" translate "$@" <lines
    mv step.out "$what.out"
    step "the lines of $what" count "$number" "$what.out"
}
# outputs KIND OPTIONS...: a model with this vocabulary, and all that it shows.
outputs() {
    kind=$1 run=$1 bad=
    shift
    step train "$latest" "$BIN/train" $corpus $tiny --d-model 8 --max-length 40 --max-updates 3 --valid-every 3 \
        --threads 1 --output "$run" "$@"
    size=$(sed -n 's/^vocabulary *\([0-9]*\) .*/\1/p' step.err)
    step "weights.tsv" sh -c '! grep -q "a	b" "$0/weights.tsv"' "$run"
    made plain 5
    made align 5 --align
    step n-best translate --n-best 2 --beam 2 <lines
    cut -d ' ' -f 1 step.out | uniq >n-best.out
    step "the lines of n-best" count 5 n-best.out
    made json 5 --json --show --align
    step "clean JSON" clean json.out
    step list translate --list-vocabulary
    mv step.out list
    step "a line a token" count $((size - 3)) list
    pair="one two <name>	ONE TWO"
    for pairs in "--score" "--align --target target" "--head-report --target target --pair-count 1" "--head-report --json --target target"; do
        step "$pairs" translate $pairs <"$(test "$pairs" = --score && echo pair || echo source)"
        step "clean $pairs" clean step.out
    done
    text="one two a	b ${escape}[2J <name>"
    step pictures translate --show --align --given "ONE $text" --whole-words --attention-kind all \
        --attention p.png --attention p.svg --attention p.pdf --attention p.html "$text"
    step "a clean page" clean p.html p.svg
    step "a closed picture" grep -q '</svg>$' p.svg
    step explain translate --explain --backward --given "ONE $text" "$text"
    step "clean explain" clean step.out
    word=$(grep -v '[^!-~]' list | head -n 1)
    [ -z "$word" ] || step neighbours translate --neighbours "$word"
    step export translate --export "$run.exported"
    step small translate <small  # the folder does not say which case the model was trained on
    mv step.out small.out
    run=$run.exported
    step exported translate <small
    mv step.out exported.out
    step "the same translations" cmp small.out exported.out
    if [ -z "$bad" ]; then pass "every output, with $kind"; else fail "every output, with $kind" "$bad"; fi
}
language 60 10
for i in 1 2 3 4 5 6; do printf 'a\tb\n' >>valid.s && echo ONE >>valid.t; done
echo "one two <name>" >source
echo "ONE TWO <name>" >target
paste source target >pair
for kind in word bpe unigram char; do outputs $kind --tokenizer $kind --vocab-size 40; done
outputs bytes --tokenizer bpe --byte-fallback --vocab-size 300
for kind in phrases symbols one; do outputs $kind --tokenizer-model $kind.model; done

# ---- the memory of pictures ----
"$latest" "$BIN/train" $corpus $tiny --d-model 8 --max-length 2048 --max-updates 1 --quiet --output long
long=$(yes one | head -n 500 | tr '\n' ' ')
draw() { "$BIN/translate" --quiet --model long --given "$long" "$long" --attention "$@" >out 2>err; }
for format in svg pdf; do
    draw long.$format
    check "too many cells for .$format" sh -c 'test $0 -eq 1 && grep -qx "translate: the attention maps have 753003 cells, too many for an .svg or .pdf file: give --attention the name of a .png file" err && test ! -e long.$1' $? $format
done
check "a .png may have them" draw long.png
words=$(yes one | head -n 1900 | tr '\n' ' ')
"$BIN/translate" --quiet --model long --given "$words" "$words" --attention long.html >out 2>err
check "too many numbers for a page" sh -c 'test $0 -eq 1 && grep -q "is 216.* numbers, too many for a page: give --attention the name of a .png" err' $?
check "a .pdf may have those of one head" draw long.pdf --head 1
