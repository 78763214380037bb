#!/bin/sh
# tour.sh -- the pages show what the program prints: every ./translate in a console block of README.md
# and docs/ that uses the toy model of data/toy gives the lines below it (tests/fixtures/console.awk).
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh

cp -r "$here/data" data && mkdir docs && cp "$BIN/translate" translate || exit 1

# Blocks of a page to N.command and N.expected.
blocks() {
    awk '
        /^```/ { inside = !inside && /console/; more = 0; next }
        !inside { next }
        more || /^\$ / {
            if (!more) n++
            line = $0
            if (!more) sub(/^\$ /, "", line)
            more = line ~ /\\$/
            print line >(n ".command")
            printf "" >(n ".expected")
            next
        }
        { print >(n ".expected") }' "$1"
}

for page in README.md docs/attention.md docs/translate.md; do
    mkdir "$scratch/blocks" && cd "$scratch/blocks" || exit 1
    blocks "$here/$page"
    cd "$scratch" || exit 1
    compared=0
    for command in $(ls blocks | sed -n 's/\.command$//p' | sort -n); do
        file=blocks/$command
        [ -s $file.expected ] && grep -q '\./translate' $file.command || continue
        grep -q 'checkpoints/' $file.command && continue
        sh $file.command 2>&1 </dev/null | grep -v ': using the toy model' >printed
        difference=$(awk -f "$here/tests/fixtures/console.awk" $file.expected printed) &&
            echo "ok $page: $(head -n 1 $file.command | cut -c1-80)" ||
            fail "$page: $(head -n 1 $file.command)" "$difference"
        compared=$((compared + 1))
    done
    check "$page shows what commands print" test $compared -gt 0
    rm -r blocks
done
