#!/bin/sh
# serve.sh -- ./serve: its answers are those of ./translate; what is wrong, too long or too much is refused; signals
# lose nothing.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh
. "$here/tests/fixtures/browser.sh"
python=$(command -v /usr/bin/python3 || command -v python3) || { echo "skipped ./serve: there is no python3"; exit 0; }
model=$here/data/toy/model.safetensors
head -n 25 "$here/data/toy/test.en" >source
"$BIN/translate" --model "$model" --quiet <source >target
paste source target >expected
server=
trap 'status=$?; [ -z "$server" ] || kill -9 "$server" 2>/dev/null; rm -rf "$scratch"; [ $failures -eq 0 ] || status=1; exit $status' EXIT

# serve OPTION...: starts it, by the command $under if there is one; $server: its number, $port: where it listens.
serve() {
    rm -f url
    ${under:-} "$BIN/serve" --port 0 --quiet "$@" >url 2>said &
    server=$!
    for i in $(seq 300); do grep -qs '/$' url && break; kill -0 $server 2>/dev/null || break; sleep 0.1; done
    port=$(sed 's|.*:\([0-9]*\)/$|\1|' url)
}
# ask CHECKS: the checks of serve.py.
ask() {
    "$python" "$here/tests/commands/serve.py" "$port" "$1" expected >checks 2>errors || [ -s checks ] || fail "$1" "$(tail -n 1 errors)"
    [ ! -s errors ] || fail "serve.py $1" "$(tail -n 3 errors)"
    cat checks
    failures=$((failures + $(grep -c '^not ok' checks || true)))
}
# ends STATUS: the server ends with this status, and has said nothing.
ends() { wait "$server"; status=$?; [ ! -s said ] || cat said >&2; test $status = "$1" && test ! -s said; }

serve --model "$model" --model "fr-en=$model" --limit-characters 1000000 --limit-body 2000 --log log
ask all
ask random500
check "the log has the requests, and no text" sh -c \
    'grep -q "\"path\":\"/translate\",\"status\":200,\"pair\":\"en-fr\",\"characters\":" log && ! grep -q jane log'
if command -v node >/dev/null; then
    for by in "http://127.0.0.1:$port" "$BIN/translate --model $model"; do
        node "$here/library/example.js" "$by" "jane visits africa" "the red car" >out
        check "library/example.js by ${by%%[: ]*}" sh -c 'printf "jane visite l\047afrique\nla voiture rouge\n" | cmp - out'
    done
    check "library/example.js says what the server refuses" \
        sh -c "! node '$here/library/example.js' 'http://127.0.0.1:$port' >out 2>err && grep -q '^Invalid request: missing q' err"
else echo "skipped library/example.js: there is no node"
fi
if [ -n "$browser" ] && command -v node >/dev/null; then
    timeout 200 node "$here/tests/fixtures/serve-page.js" "$browser" "http://127.0.0.1:$port/" "$scratch/profile" >checks 2>errors
    [ "$(grep -c '^ok' checks)" -ge 12 ] || fail "the page's checks" "$(grep -c '^ok' checks) passed: $(tail -n 3 errors)"
    cat checks
    failures=$((failures + $(grep -c '^not ok' checks || true)))
else echo "skipped the page of ./serve: there is no Chromium or no node"
fi
mkfifo pipe
wrong "a log that nobody reads" 1 "cannot write 'pipe': it is a pipe that nobody reads" \
    timeout -s KILL 60 "$BIN/serve" --model "$model" --port 0 --log pipe
mv log log.1
kill -HUP "$server"
sleep 0.5
"$python" "$here/tests/commands/serve.py" "$port" one expected >one
check "it answers after SIGHUP" sh -c 'head -n 1 target | cmp - one'
check "and goes on with a new log" grep -q '"path":"/translate"' log
"$python" "$here/tests/commands/serve.py" "$port" document expected >document &
client=$!
for i in $(seq 300); do [ -e sent ] && break; sleep 0.1; done
sleep 0.5
kill -TERM "$server"
wait $client
check "SIGTERM: what was begun is answered" sh -c 'cat document >&2; grep -qx 5000 document'
check "and it ends" ends 0
cp "$model" first && cp "$model" second && rm -f url
"$BIN/serve" --port 0 --model en-fr=first --model en-de=second >url 2>said &
server=$!
for i in $(seq 300); do grep -qs '/$' url && break; sleep 0.1; done
echo "no model" >new && mv new second
kill -HUP "$server"
for i in $(seq 100); do grep -q models: said && break; sleep 0.1; done
check "a new model that cannot be read: the old ones stay" grep -q "^serve: goes on with the old models: 'second' is not" said
kill -TERM "$server"
wait "$server"
server=

printf 'africa\tKenia\n' >terms
serve --model "en-fr=$model" --terms terms --threads 8
if ! nm "$BIN/serve" 2>/dev/null | grep -q '__[at]san_init'; then ask "reload$server"; fi
echo broken >terms
kill -HUP "$server"
check "terms that cannot be read: the old ones stay" await grep -q "^serve: goes on with the old models: terms:1: this is no term" said
ask lanes
kill -TERM "$server"
wait "$server"
serve --model "ar-en=$model" --model "he-en=$model" --model "nb-en=$model" --model "pt-BR-en=$model" --limit-rate 100
ask several
kill -TERM "$server"
check "SIGTERM ends it" ends 0
under="nice -n 5"
serve --model "en-fr=$model" --model "nb-fr=$model" --limit-waiting 2 --threads 1
under=
ask full
own=$(cut -d' ' -f19 "/proc/$server/stat")
check "long texts have a lower priority than the server" \
    sh -c "cat /proc/$server/task/*/stat | cut -d' ' -f19 | grep -qx $((own < 9 ? own + 10 : 19))"
kill -TERM "$server"
check "SIGTERM ends it" ends 0
printf '\357\273\277  second \r\n\nfirst\n' >keys
if [ -n "$browser" ] && command -v node >/dev/null; then
    serve --model "en-en=$model" --api-keys keys --limit-characters 50
    timeout 200 node "$here/tests/fixtures/serve-page.js" "$browser" "http://127.0.0.1:$port/" "$scratch/second" first >checks 2>errors
    [ "$(grep -c '^ok' checks)" -eq 2 ] || fail "the page with API keys" "$(tail -n 3 errors)"
    cat checks
    failures=$((failures + $(grep -c '^not ok' checks || true)))
    kill -TERM "$server"
    check "SIGTERM ends it" ends 0
fi
serve --model "en-fr=$model" --limit-characters 5
ask short
kill -TERM "$server"
check "SIGTERM ends it" ends 0
serve --model "en-fr=$model" --api-keys keys --limit-rate 5 --cors https://example.org
ask keys
port2=$port
wrong "a port that is taken" 1 "cannot listen at 127.0.0.1, port $port2: Address already in use; --port N" \
    "$BIN/serve" --model "$model" --port "$port2"
kill -TERM "$server"
check "SIGTERM ends it" ends 0
server=
wrong "--no-model" 1 "--no-model leaves no model: name one with --model" "$BIN/serve" --no-model
mkfifo pipe
timeout -k 5 2 "$BIN/serve" --model "en-fr=$model" --port 0 --api-keys pipe >/dev/null 2>&1
check "SIGTERM ends it while it waits for keys" test $? -eq 124
wrong "no model" 1 "no model at 'nowhere'" "$BIN/serve" --model en-fr=nowhere
wrong "two models for a pair" 1 "two models for en-fr" "$BIN/serve" --model "$model" --model "en-fr=$model"
language 60 10
"$BIN/train" $tiny $corpus --max-updates 2 --output run --quiet
"$latest" "$BIN/train" $tiny $corpus --max-updates 2 --augment 0.5 --output run8 --quiet
serve --model "en-fr=run8" --protect "B+"
ask number
kill -TERM "$server"
check "SIGTERM ends it" ends 0
server=
wrong "no languages" 1 "which languages run translates is not known: write --model SOURCE-TARGET=run" "$BIN/serve" --model run
wrong "a key of two words" 1 "two, line 2: an API key has no blank in it" sh -c "printf 'one\nand two\n' >two; timeout 60 '$BIN/serve' --model '$model' --api-keys two"
for pair in zh-Hans en-fr-ca; do
    wrong "no pair: $pair" 1 "SOURCE-TARGET=PATH, such as en-fr=checkpoints/mine or pt-BR-en=" timeout 60 "$BIN/serve" --model "$pair=$model"
done
wrong "an expression that is none" 1 "^serve: --protect cannot use the regular expression '('" timeout 60 "$BIN/serve" --model "$model" --protect "("
wrong "a shortlist that no model has" 1 "this model has no --shortlist" timeout 60 "$BIN/serve" --model "$model" --shortlist
wrong "an origin with a path" 2 "^serve: --cors takes one origin as browsers write it, https://example.org, or \* for all, not .https://example.org/.$" \
    timeout 60 "$BIN/serve" --model "$model" --cors https://example.org/
wrong "a key that is no UTF-8" 1 "latin:2: not valid UTF-8" sh -c "printf 'one\n\374ber\n' >latin; timeout 60 '$BIN/serve' --model '$model' --api-keys latin"
wrong "a file without keys" 1 "has no API key" "$BIN/serve" --model "$model" --api-keys /dev/null
wrong "an option of translate" 2 "unknown option .--n-best" "$BIN/serve" --n-best 3
check "which its help does not offer" sh -c '! "$0" --help | grep -e --n-best' "$BIN/serve"
