#!/bin/sh
# page.sh -- the page that translates by itself (make page): in node its engine gives the translations, scores and
# attention of ./translate, and in a browser its controls work. It skips what the machine has no program for.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh
. "$here/tests/fixtures/browser.sh"
page=$here/${BUILD:-build}/page/qkv.html
[ -e "$page" ] || { echo "skipped the page: make page has not made it; it needs clang, lld and wasi-libc"; exit 0; }

# count_checks: prints the lines of the file checks, and counts those that failed.
count_checks() {
    cat checks
    failures=$((failures + $(grep -c '^not ok' checks || true)))
}

if command -v node >/dev/null; then
    model=$here/data/toy/model.safetensors
    {
        head -n 25 "$here/data/toy/test.en"
        echo "JANE's sister visits Zanzibar, (the lake) in May ?"
        echo "L’ÉCOLE is zeta zeta, (JANE’s red car) 3 at anna aZ b-c! «œuvre»"
    } >sentences
    check "./translate translates and writes attention weights" \
        sh -c "'$BIN/translate' --model $model --json --show --split never --quiet <sentences >json"
    check "./translate goes back" "$BIN/translate" --model "$model" --attention back.html --backward --split never --quiet \
        "$(tail -n 1 sentences)"
    check "./train trains" sh -c "'$BIN/train' --preset toy --d-model 32 --ffn 64 --heads 2 --batch-tokens 800 --accumulators 2 \
        --schedule inverse-sqrt --learning-rate 0.005 --max-updates 20 --threads 1 --quiet --output run \
        --train-source $here/data/toy/train.en.gz --train-target $here/data/toy/train.fr.gz \
        --valid-source $here/data/toy/valid.en --valid-target $here/data/toy/valid.fr"
    node "$here/tests/fixtures/page-engine.js" "$page" sentences json back.html run/metrics.jsonl >checks 2>errors
    [ -s checks ] && [ ! -s errors ] || fail "the checks in node" "$(tail -n 3 errors)"
    count_checks
else
    echo "skipped the page's engine: there is no node"
fi
if command -v node >/dev/null; then
    check "./translate --page" "$BIN/translate" --model "$here/data/toy/model.safetensors" --page own.html --quiet
    mkdir named && cp "$here/data/toy/model.safetensors" named/best.safetensors
    check "--page names the model" sh -c "'$BIN/translate' --model named/ --page named.html --quiet && grep -q '\"model\":\"named\"' named.html"
    head -n 100 "$here/data/toy/test.en" >sentences
    "$BIN/translate" --model "$here/data/toy/model.safetensors" --int8 --quiet <sentences >translations
    timeout 200 node "$here/tests/fixtures/own-page.js" "$browser" "$PWD/own.html" "$scratch/own" sentences translations >checks 2>errors
    [ -s checks ] && [ ! -s errors ] || fail "the own page" "$(tail -n 3 errors)"
    count_checks
    language 200 10  # a model of unknown languages that likes placeholders
    sed -i 's/[A-Z]*E[A-Z]*/<ph1>/g' train.t valid.t
    # shellcheck disable=SC2086
    "$latest" "$BIN/train" $tiny $corpus --augment 0.5 --max-updates 10 --quiet --output bare
    "$BIN/translate" --model bare --page bare.html 2>said
    check "--page says that the languages are not known" grep -q "^translate: the page calls its languages unknown: " said
    timeout 200 node "$here/tests/fixtures/own-page.js" "$browser" "$PWD/bare.html" "$scratch/bare-profile" valid.s >checks 2>errors
    [ -s checks ] && [ ! -s errors ] || fail "the page of unknown languages" "$(tail -n 3 errors)"
    count_checks
    wrong "a page of a text" 2 "goes with it" "$BIN/translate" --page x.html "a text"
fi
size=$(wc -c <"$page")
if [ "$size" -le 3000000 ]; then pass "the page has at most 3 MB"; else fail "the page has at most 3 MB" "$size bytes"; fi
check "the page loads nothing" sh -c "! grep -nE '(src|href)=\"?(https?:|//)|import\\(|fetch\\(|XMLHttp' $page"

if [ -n "$browser" ]; then
    browse "$page" live-checks.js 1200,900
    browse "$page" live-checks.js 400,800
    if command -v node >/dev/null; then
        timeout 200 node "$here/tests/fixtures/keyboard.js" "$browser" "$page" "$scratch/keys" >checks 2>errors
        [ "$(grep -c '^ok' checks)" -ge 25 ] || fail "the keys' checks" "$(grep -c '^ok' checks) passed: $(tail -n 3 errors)"
        count_checks
    else
        echo "skipped the keyboard: there is no node"
    fi
else
    echo "skipped the page in a browser: there is no Chromium"
fi
