#!/bin/sh
# page.sh -- the page of attention in a browser: it loads without an error, and pointer, keys and controls
# work. It needs Chromium and is skipped without it; tests/explain/page.c needs no browser.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh

. "$here/tests/fixtures/browser.sh"
# node_says NAME FILE FUNCTION EXPRESSION: a function of one line of a script of the page makes it true.
node_says() {
    { echo 'const state = { hide: true };'; grep "^const $3 =" "$here/plots/page/$2"; echo "process.exit($4 ? 0 : 1);"; } >one.js
    check "$1" node one.js
}
if command -v node >/dev/null; then
    node_says "the largest of more numbers than a call can take" neuron.js largestOf "largestOf([new Array(1 << 19).fill(-2)]) === 2"
    node_says "without <pad>, no row sees its own word" heat.js unseen \
        "unseen({ causal: true }, 1, 1, 0) && !unseen({ causal: true }, 1, 0, 0)"
fi
[ -n "$browser" ] || { echo "skipped the page in a browser: there is no Chromium"; exit 0; }

# A model of characters, whose vocabulary has those of markup.
hostile="<script>document.title='gone'</script> <img src=x onerror=alert(1)> &amp; ]]> one"
language 200 20
for i in 1 2 3 4 5 6; do echo "$hostile"; done | tee -a train.t >>train.s
"$BIN/train" --train-source train.s --train-target train.t --valid-source valid.s --valid-target valid.t \
    --tokenizer char --vocab-size 80 --d-model 32 --heads 4 --ffn 32 --encoder-layers 2 --decoder-layers 2 \
    --max-length 100 --batch-tokens 600 --micro-tokens 300 --max-updates 4 --quiet --output run >out 2>&1
check "a model to draw" test -s run/best.safetensors
check "a page is drawn" "$BIN/translate" --model run --attention page.html --pieces --backward --quiet \
    --given "one $hostile" "$hostile ✻"

browse page.html page-checks.js 1200,900
