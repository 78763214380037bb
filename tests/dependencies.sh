#!/bin/sh
# dependencies.sh -- the house rules that a compiler does not check.
#
#   arrows    each room includes only what it may: base <- model <- training, inference;
#             base <- data; base <- plots; program, library, benchmark and the mains join them, and
#             no room includes these.
#   headers   each library stands behind the files named here, and no other is used.
#   silence   no file of a room prints to the terminal or ends the program. (_exit is allowed: so
#             ends a forked child.)
#
# One line a check, "ok NAME" or "not ok NAME: why"; exit status 1 if any failed.
#
#   tests/dependencies.sh [ROOT]       ROOT: the tree to check, by default the one this is in
set -u
LC_ALL=C
export LC_ALL
cd "${1:-$(dirname "$0")/..}" || exit 1

rooms='base model training inference data plots program library benchmark'
mains='data/toy/generate.c
library/example.c
benchmark/benchmark.c'                          # programs that live in a room
headers_of_libraries='
cblas.h             model/gemm.c benchmark/peak.c
glib.h              inference/codepoints.c plots/columns.c
jansson.h           base/json.c
mpi.h               training/distributed.c
pango/pangocairo.h  plots/canvas.c
png.h               plots/png.c
sentencepiece_*     data/tokenizer.cc data/tokenizer-learning.cc
zlib.h              data/text.c model/safetensors.c plots/apng.c
'
headers_of_the_system='assert|complex|ctype|errno|fenv|float|inttypes|iso646|limits|locale|math
setjmp|signal|stdalign|stdarg|stdatomic|stdbool|stddef|stdint|stdio|stdlib|stdnoreturn|string|time
dirent|fcntl|getopt|glob|immintrin|libgen|malloc|poll|pthread|sched|strings|termios|unistd|wchar|sys/[a-z]+'
printing='printf|vprintf|puts|putchar|perror|warn|warnx|err|errx'
ending='exit|_Exit|quick_exit|abort'
failed=0

# report NAME WHY: passed if WHY is empty.
report() {
    if [ -z "$2" ]; then
        echo "ok $1"
    else
        echo "not ok $1: $(echo "$2" | awk '{ printf "%s%s", (NR > 1 ? "; " : ""), $0 }')"
        failed=1
    fi
}

# files ROOM...: its sources, the programs among them left out.
files() {
    for room; do
        [ -d "$room" ] && find "$room" -name '*.[ch]' -o -path "$room/*" -name '*.cc'
    done | grep -v -x -F "$mains" | sort
}

# includes FILE...: "FILE LINE <header>" or "FILE LINE "header"", one a line.
includes() {
    awk '/^[ \t]*#[ \t]*include/ {
        sub(/^[ \t]*#[ \t]*include[ \t]*/, "")
        sub(/[ \t]*(\/[\/*].*)?$/, "")
        print FILENAME, FNR, $0
    }' "$@" /dev/null
}

# code FILE...: "FILE:LINE: " and what is neither comment nor text in quotes.
code() {
    awk 'FNR == 1 { comment = 0 }
    {
        rest = $0
        out = ""
        gsub(/\\./, "", rest)
        while (rest != "") {
            if (comment) {
                if (!match(rest, /\*\//)) break
                comment = 0
            } else if (match(rest, /"[^"]*"|'\''[^'\'']*'\''|\/\*|\/\//)) {
                token = substr(rest, RSTART, 2)
                out = out substr(rest, 1, RSTART - 1) " "
                if (token == "//") break
                comment = token == "/*"
            } else {
                out = out rest
                break
            }
            rest = substr(rest, RSTART + RLENGTH)
        }
        if (out ~ /[^ \t]/) print FILENAME ":" FNR ": " out
    }' "$@" /dev/null
}

# arrow ROOM MAY_INCLUDE...
arrow() {
    room=$1
    shift
    list=$(files "$room")
    [ -n "$list" ] || { report "arrows from $room" "no file in $room/"; return; }
    allowed=$(echo "$*" | tr ' ' '|')
    # shellcheck disable=SC2086  # no file of the rooms has a space in its name
    report "arrows from $room" "$(includes $list | awk -v allowed="^\"($allowed)/" '
        $3 ~ /^"/ && $3 !~ allowed { print $1 ":" $2 " includes " $3 }')"
}

# library HEADER FILE...: the header may stand in these files only.
library() {
    header=$1
    shift
    # shellcheck disable=SC2086
    report "header $header" "$(includes $all | awk -v header="$header" -v files=" $* " '
        BEGIN { gsub(/\./, "[.]", header); sub(/[*]/, ".*", header) }
        $3 ~ "^[<\"]" header "[>\"]$" && !index(files, " " $1 " ") {
            print $1 ":" $2 " includes it, which belongs in" files
        }' | sed 's/ $//')"
}

arrow base base
arrow model base model
arrow data base data
arrow plots base plots
arrow training base model training
arrow inference base model inference
arrow program base model training inference data plots program
arrow library base data inference program library
arrow benchmark base model training inference data plots program benchmark

# shellcheck disable=SC2086
all=$(files $rooms)
set -f
while read -r line; do
    # shellcheck disable=SC2086
    [ -z "$line" ] || library $line
done <<EOF
$headers_of_libraries
EOF

known=$(echo "$headers_of_libraries" | awk 'NF { print $1 }' | sed 's/\./[.]/g; s/\*/.*/' |
    paste -s -d '|' -)
system="($(echo "$headers_of_the_system" | paste -s -d '|' -))[.]h"
# shellcheck disable=SC2086
report 'headers of no other library' "$(includes $all | awk -v known="^<($known|$system)>\$" '
    $3 !~ /^"/ && $3 !~ known && !($1 ~ /[.]cc$/ && $3 ~ /^<[a-z_]+>$/) {
        print $1 ":" $2 " includes " $3
    }')"

# shellcheck disable=SC2086
text=$(code $all)
report 'rooms do not print' "$(echo "$text" | grep -E \
    "(^|[^A-Za-z0-9_])(($printing) *\\(|(stdout|stderr)([^A-Za-z0-9_]|\$))" | sed 's/:  */: /')"
report 'rooms do not end the program' "$(echo "$text" | grep -E \
    "(^|[^A-Za-z0-9_])($ending) *\\(" | sed 's/:  */: /')"

exit $failed
