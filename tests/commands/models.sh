#!/bin/sh
# models.sh -- scripts/get-model against a server on this machine: what it fetches, imports and checks,
# and what it leaves behind when something is wrong, which is nothing.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh
command -v python3 >/dev/null || { echo "skipped get-model: python3 is missing"; exit; }

mkdir scripts served
cp "$here"/scripts/get-model "$here"/scripts/get-model.sums "$here"/scripts/options.sh "$here"/scripts/import "$here"/scripts/*.py scripts
folders() { python3 "$here/tests/fixtures/import-folders.py" "$@"; }
new=served/Helsinki-NLP/opus-mt-xx-yy/resolve/main
mkdir -p $new
folders torch $new
if command -v curl >/dev/null || command -v wget >/dev/null; then
    python3 -u -c '
import functools, http.server
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory="served")
server = http.server.HTTPServer(("127.0.0.1", 0), handler)
print(server.server_port, flush=True)
server.serve_forever()' >port 2>log &
    server=$!
    trap 'status=$?; kill $server; rm -rf "$scratch"; [ $failures -eq 0 ] || status=1; exit $status' EXIT
    await test -s port
    MODEL_MIRROR=http://127.0.0.1:$(cat port)
    no_proxy=127.0.0.1
    export no_proxy
else MODEL_MIRROR=$scratch/served; fi
export MODEL_MIRROR
get() { scripts/get-model "$@" >out 2>err; }

# fails NAME STATUS PATTERN ARGUMENT...: a sentence with the pattern at the end, and nothing is left.
fails() {
    name=$1 status=$2 pattern=$3
    shift 3
    get "$@"
    got=$?
    if [ $got -ne "$status" ]; then fail "$name" "exit status $got, not $status: $(cat err)"
    elif ! tail -n 1 err | grep -q "^get-model: .*$pattern"; then fail "$name" "said: $(cat err)"
    elif [ -n "$(ls -d models/* 2>/dev/null)" ]; then fail "$name" "left: $(ls -d models/*)"
    else pass "$name"; fi
}
get opus-mt-xx-yy
check "a model is fetched" test $? -eq 0
check "and imported" folders check $new models/opus-mt-xx-yy
sum=$(sha256sum <$new/pytorch_model.bin | cut -d ' ' -f 1)
check "an unknown SHA-256 is said" \
    grep -q "no SHA-256 is known for Helsinki-NLP/opus-mt-xx-yy/pytorch_model.bin; it is $sum" err
check "and kept" grep -qx "$sum  Helsinki-NLP/opus-mt-xx-yy/pytorch_model.bin" models/opus-mt-xx-yy/SHA256SUMS
check "nothing else is left" sh -c 'test "$(ls models)" = opus-mt-xx-yy'
get opus-mt-xx-yy
check "a folder that is there stays" sh -c 'test $0 -eq 1 && grep -q "is there already" err' $?
cat models/opus-mt-xx-yy/SHA256SUMS >>scripts/get-model.sums
mv models/opus-mt-xx-yy/model.safetensors published
rm -r models
get Helsinki-NLP/opus-mt-xx-yy "a folder"
check "known SHA-256s need no word" sh -c 'test $0 -eq 0 && ! grep -q SHA-256 err' $?
cp published $new/model.safetensors
get opus-mt-xx-yy other
check "published as safetensors, it needs no import" cmp published other/model.safetensors
rm $new/model.safetensors
echo >>$new/vocab.json
fails "another file than the one that is meant" 1 "vocab.json is not the file that is meant" opus-mt-xx-yy
rm $new/vocab.json
fails "a file that is not there" 1 "cannot download .*vocab.json: ." opus-mt-xx-yy
fails "a model that is not there" 1 "cannot download .*opus-mt-zz-zz/resolve/main/config.json: ." opus-mt-zz-zz
folders hostile hostile
mkdir -p served/me/bad/resolve
cp -r hostile/system served/me/bad/resolve/main
fails "a model that is a program" 1 "names posix.system, which is not allowed" me/bad
check "it did not run" test ! -e ran
for name in ../x a/b/c "a b" /etc .; do
    fails "no name: $name" 2 "no name of a model" "$name"
done
MODEL_MIRROR=file:///nowhere
fails "a server that does not answer" 1 "cannot download file:///nowhere/\|neither curl nor wget" opus-mt-xx-yy
