#!/bin/sh
# scores.sh -- other score functions and projections from the command line: training, resuming,
# translating, int8, --explain and the page.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh

language 300 40
train() { "$latest" "$BIN/train" $corpus $tiny --quiet "$@"; }
translate() { "$BIN/translate" --quiet "$@"; }

check_model() {  # NAME FORMULA SENTENCE: what --explain and the page say
    text=$(head -n 1 valid.s)
    check "$1 translates" translate --model "$1" --beam 4 "$text"
    check "$1 translates with int8" translate --model "$1" --int8 "$text"
    translate --model "$1" --explain "$text" >explained
    check "$1 explains its score" grep -qF -e "z = $2" explained
    check "$1 explains its projections" grep -qF -e "$3" explained
    check "$1 draws" translate --model "$1" --attention "$1.html" --attention "$1.png" "$text"
    tr -d ' ' <"$1.html" >page
    check "the page of $1 has its score" grep -qF -e "\"score\":\"$2\"" page
}

both() {  # NAME SCORE PROJECTIONS: trained at once and with a stop are the same
    train --attention-score "$2" --projections "$3" --max-updates 8 --schedule constant --threads 1 --output "$1"
    train --attention-score "$2" --projections "$3" --max-updates 4 --schedule constant --threads 2 --output half
    train --attention-score "$2" --projections "$3" --max-updates 8 --schedule constant --threads 2 --output half
    check "$1: a resume and threads change nothing" sh -c "
        '$BIN/translate' --quiet --model $1 --n-best 2 --beam 2 <valid.s >a &&
        '$BIN/translate' --quiet --model half --n-best 2 --beam 2 <valid.s >b && test -s a && cmp a b"
    wrong "$1 goes on with another score" 1 "attention-score" train --attention-score dot --max-updates 9 --output half
    rm -rf half
}

both cosine cosine qk-shared
check_model cosine 't·cos(q,k)' 'W_Q and W_K are one'
both laplace laplace none
check_model laplace '-‖q-k‖₁' 'without projections'
both over dot-over-d kv-shared
check_model over 'q·k/d_k' 'W_K and W_V are one'
check "the score is saved" grep -q '"attention_score": "cosine"' cosine/config.json
check "and so are the projections" grep -q '"projections": "qk-shared"' cosine/config.json
wrong "an unknown score" 2 "scaled-dot, dot, dot-over-d, cosine or laplace, not 'sine'" train --attention-score sine
