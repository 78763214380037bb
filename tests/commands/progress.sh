#!/bin/sh
# progress.sh -- what ./train shows while it works, on terminals of two widths and in a pipe, and what it
# says at the end. tests/commands/progressbar.c checks the line itself, and how often it is printed.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh

language 400 60
tiny="$tiny --valid-every 10"
says() { if grep -q -- "$2" err; then pass "$1"; else fail "$1" "$(tail -n 5 err)"; fi; }

# ---- the end of a run ----
"$latest" "$BIN/train" $corpus $tiny --max-updates 20 --output "a run" --watch "one two" 2>err
says "the end names the files" "^written to a run: best.safetensors (the model), loss.png, weights.png, attention.png, watch.png$"
for file in $(sed -n 's/^written to a run: //p' err | tr -d ,); do
    case $file in *.*) check "$file is there" test -s "a run/$file" ;; esac
done
command=$(sed -n "s|^translate with: ./|$BIN/|p" err)
check "the next command can be pasted" sh -c "$command >out && test -s attention.png"
check "it translates a sentence of the validation text" grep -qxF "$(echo "$command" | sed "s/.* '\(.*\)'$/\1/")" valid.s
"$latest" "$BIN/train" $corpus $tiny --max-updates 1 --output "it's \$HOME" 2>err
command=$(sed -n "s|^translate with: ./|$BIN/|p" err)
check "it names any folder" sh -c "$command >out"
sed 's/^/- /' valid.s >dashes.s
dashes="--train-source train.s --train-target train.t --valid-source dashes.s --valid-target valid.t --output dashes"
"$latest" "$BIN/train" $tiny --max-updates 1 $dashes 2>err
says "no sentence that looks like an option" "attention.png 'SENTENCE'$"
rm dashes/best.safetensors
"$latest" "$BIN/train" $tiny --max-updates 1 $dashes 2>err
says "a model that is gone is missed" "^warning  *'dashes/best.safetensors' is missing"
says "and not among the files" "^written to dashes: loss.png, "
"$latest" "$BIN/train" $corpus $tiny --max-updates 5000 --output stopped 2>err &
pid=$!
while ! [ -s stopped/best.safetensors ] && kill -0 $pid 2>/dev/null; do sleep 0.1; done
kill -TERM $pid
wait $pid
says "a run that is stopped says where it is" \
    "^stopped after update [0-9]*, and saved in stopped/last.safetensors: the same command goes on from there$"
says "and how to translate" "^translate with: ./translate --model stopped "

# ---- terminals ----
if ! script -qec true /dev/null </dev/null >script.out 2>&1; then
    echo "skipped the progress line on a terminal: script(1) is missing or gets no pseudo-terminal"
    exit 0
fi
# terminal COLUMNS COMMAND: its output there; drawn: what was drawn in place, each on a line.
terminal() {
    script -qec "stty cols $1; $2" /dev/null </dev/null >out 2>&1
    tr '\r' '\n' <out | sed -n "s/^$(printf '\033')\[K\(.\)/\1/p" >drawn
}
run="'$latest' '$BIN/train' $corpus $(echo $tiny) --max-updates 900 --patience 100 --micro-tokens 20 --d-model 64 --ffn 256 --valid-every 300"
for columns in 80 40; do
    terminal $columns "$run --output run$columns"
    check "the progress line at $columns columns" grep -q "^ *[0-9]*% \[#* *\] at most [0-9hms]* left" drawn
    check "fits" awk -v most=$columns '/%/ { gsub(/[\200-\277]/, ""); if (length >= most) exit 1 }' drawn
done
terminal 80 "$run --output wide"
check "at 80 columns it has more than the time" grep -q "left  update [0-9]*/900  loss [0-9.]*$" drawn
for stage in "reading train.s" "learning 60 tokens (word)" encoding "validating after update 300" "saving and drawing"; do
    check "it draws: $stage …" grep -q "^$stage …" drawn
done
check "lines that stay replace it" grep -q "^done: 900 updates" drawn
terminal 80 "$run --quiet --output quiet"
check "--quiet shows nothing" test ! -s out
check "the terminal changes no byte" cmp run80/last.safetensors quiet/last.safetensors
