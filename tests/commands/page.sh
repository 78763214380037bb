#!/bin/sh
# page.sh -- the page of attention in a browser: it loads without an error, and pointer, keys and controls
# work. It needs Chromium and is skipped without it; tests/explain/page.c needs no browser.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh

browser=
for name in chromium chromium-browser google-chrome; do
    [ -n "$browser" ] || browser=$(command -v $name)
done
if [ -z "$browser" ]; then
    echo "skipped the page in a browser: there is no Chromium"
    exit 0
fi

# A model of characters, whose vocabulary has those of markup.
hostile="<script>document.title='gone'</script> <img src=x onerror=alert(1)> &amp; ]]> one"
language 200 20
for i in 1 2 3 4 5 6; do echo "$hostile"; done | tee -a train.t >>train.s
"$BIN/train" --train-source train.s --train-target train.t --valid-source valid.s --valid-target valid.t \
    --tokenizer char --vocab-size 80 --d-model 32 --heads 4 --ffn 32 --encoder-layers 2 --decoder-layers 2 \
    --max-length 100 --batch-tokens 600 --micro-tokens 300 --max-updates 4 --quiet --output run >out 2>&1
check "a model to draw" test -s run/best.safetensors
check "a page is drawn" "$BIN/translate" --model run --attention page.html --backward --quiet \
    --given "one $hostile" "$hostile ✻"

# Errors are recorded from before the page's scripts on; the checks run after them.
awk -v checks="$here/tests/fixtures/page-checks.js" '
    /^<title>/ {
        print "<script>window.troubles = [];"
        print "for (const type of [\"error\", \"unhandledrejection\", \"securitypolicyviolation\"])"
        print "  addEventListener(type, (event) => troubles.push(type + \" \" + (event.message || event.reason || event.blockedURI)));"
        print "console.error = (text) => troubles.push(text);</script>"
    }
    /^<\/body>/ {
        print "<script>"
        while ((getline line <checks) > 0) print line
        print "</script>"
    }
    { print }' page.html >checked.html
timeout 100 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$scratch/profile" \
    --virtual-time-budget=3000 --enable-logging=stderr --window-size=1200,900 \
    --dump-dom "file://$scratch/checked.html" >dom 2>log
check "nothing on the browser's console" sh -c '! grep "CONSOLE" log'
sed -n '/<pre id="checks">/,/<\/pre>/p' dom | grep -E '^(not )?ok ' | sed 's/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g' >checks
[ -s checks ] || fail "the page's checks" "they did not run: $(grep -v dbus log | tail -n 2)"
cat checks
failures=$((failures + $(grep -c '^not ok' checks || true)))
