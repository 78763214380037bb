#!/bin/sh
# robustness.sh -- scripts/robustness: with the toy model; with a translator that copies its input, for which
# nothing is lost; and with such ones that lose a few things each, which only their rows may show.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh
toy=$here/data/toy
rows='clean|paragraphs|capitals|title case|no final stop|curly quotes|soft hyphens|emoji|URL|placeholder|tag pair|other number|bullets|wrapped lines|layout|no letters|.srt'
robustness() { "$here/scripts/robustness" "$@"; }

head -n 7 "$toy/test.en" >s
head -n 7 "$toy/test.fr" >t
BIN=$BIN robustness --model "$toy/model.safetensors" --source s --reference t >table 2>err
check "a row for each way" test "$(sed 1d table | cut -c 1-16 | sed 's/ *$//' | paste -sd '|')" = "$rows"
check "nothing else is said" test ! -s err
check "the columns" awk 'NR > 1 && (length($0) != 52 || substr($0, 25, 1) != " ") { exit 1 }' table
check "the clean test set keeps all" grep -q '^clean .* 100.0 %  *-$' table
check "what is kept is the share of clean" awk 'NR > 1 && substr($0, 26, 7) + 0 > 0 {
    n++; off = substr($0, 34, 7) - 100 * substr($0, 18, 7) / substr($0, 26, 7); if (off * off > 0.01) bad = 1 }
    END { exit bad || n < 12 }' table

# copy PROGRAM: a translator that writes what the program makes of the input, but scores as ./translate does.
copy() {
    mkdir -p fake
    printf '#!/bin/sh\ncase " $* " in *" --hypothesis "* | *" --help "*) exec "%s/translate" "$@" ;; esac\n%s\n' \
        "$BIN" "$1" >fake/translate
    chmod +x fake/translate
    BIN=fake robustness --model none --source own --reference own >table 2>err
}
cat >own <<'END'
The café of Émile opens at 9, and 250 people wait.
"Don't worry," said the man with the umbrella.
Il n'y a que l'école, n'est-ce pas ?
The numbers 17 and 17 are the same, but 4096 is another one.
Nobody knows where the small children went yesterday evening
They have been working for many years on a very long sentence that does not fit into a line.
END
# spans NAME: the share of spans of a row.
spans() { sed -n "s/^$1  *//p" table | sed 's/ %//g' | awk '{ print $NF }'; }
# full: the rows that lost nothing.
full() {
    sed 1d table | awk '{ rest = $0; lost = 0
        while (match(rest, /[0-9.]+ %/)) {
            lost += substr(rest, RSTART, RLENGTH) != "100.0 %"
            rest = substr(rest, RSTART + RLENGTH)
        }
        if (!lost) print substr($0, 1, 16) }' | sed 's/ *$//' | paste -sd '|'
}

copy "sed 's/\\xc2\\xad//g'"
check "nothing is lost by a copy" test "$(full)" = "$rows"
check "of numbers, too" test "$(spans 'other number')" = 100.0
# lose PROGRAM [ROW SHARE]...: only these rows show what the program does, with these shares of spans.
lose() {
    copy "sed 's/\xc2\xad//g' | $1"
    left=$rows
    shift
    while [ $# -gt 0 ]; do
        left=$(echo "$left" | sed "s/\(^\||\)$1|/\1/; s/|$1\$//")
        check "$2 % of $1 are there" test "$(spans "$1")" = "$2"
        shift 2
    done
    check "no other row shows it" test "$(full)" = "$left"
}
lose "sed 's/{name}/{ name }/; 3s,/list?,/lists?,; 1,2s,</b>,,; s/^\t\\* /* /; 2s/,830 --/,831 --/'" \
    placeholder 0.0 URL 83.3 "tag pair" 83.3 layout 87.5 .srt 94.4
lose "sed 's/838/1/; 1,3s/^- /-/; s/^10:30\$/10.30/' | awk '/^[^a-z]*[A-Z][^a-z]*\$/ { print tolower(\$0); next } { print }'" \
    "other number" 50.0 bullets 50.0 "no letters" 93.3 capitals -
wrong "no model" 2 "^robustness: give --model M" robustness --source s --reference t
wrong "no such file" 1 "No such file" robustness --model none --source nowhere --reference t
