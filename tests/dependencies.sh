#!/bin/sh
# dependencies.sh -- the house rules that a compiler does not check.
#
#   arrows    each folder includes only what it may (the table below).
#   circles   no two files include each other, even through others; a .c, its .h and its NAME-part.c are one file.
#   headers   each library stands behind the files named here, and no other is used.
#   silence   only the commands print to the terminal or end the program. (_exit is allowed: so
#             ends a forked child.)
#   panels    no file outside kernels/ knows how matrices are packed: kernels/matrix.h hides it.
#   vectors   each file of kernels, model and inference with a vector loop is in VECTORS of the Makefile.
#   options   no error message below the commands names a --option.
#   files     docs/reliability.md lists every call that opens, makes, renames or removes a file; none starts a program, and
#             only the server opens a socket.
#
# One line a check, "ok NAME" or "not ok NAME: why"; exit status 1 if any failed.
#
#   tests/dependencies.sh [ROOT]       ROOT: the tree to check, by default the one this is in
set -u
LC_ALL=C
export LC_ALL
cd "${1:-$(dirname "$0")/..}" || exit 1

folders='base kernels model training data inference scores plots explain commands manual library benchmark'
arrows='
base       base
kernels    base kernels
model      base kernels model
training   base kernels model training
data       base data
inference  base kernels model data inference
scores     base scores
plots      base plots
explain    base kernels model training data inference plots explain
commands   base kernels model training data inference scores plots explain commands library
manual     base commands manual
library    base data inference library
library/web base kernels model training data inference explain library
benchmark  base kernels model training data inference scores plots explain commands benchmark
'
mains='data/toy/generate.c
manual/generate.c
library/example.c
library/web/pack.c
benchmark/benchmark.c'                          # programs that live in a folder
headers_of_libraries='
cld2/*.h            commands/serve/language.cc
cblas.h             benchmark/peak.c kernels/openblas.c
cairo-pdf.h         plots/canvas.c
cairo-svg.h         plots/canvas.c
expat.h             data/tmx.c
glib.h              base/columns.c commands/translate/webpage.c
gumbo.h             data/html.c
jansson.h           base/json.h
microhttpd.h        commands/serve/server.c
mpi.h               training/distributed.c
pango/pangocairo.h  plots/canvas.c
png.h               plots/png.c
sentencepiece_*     data/tokenizer.cc data/tokenizer-extending.cc data/tokenizer-learning.cc
unicode/*.h         base/columns.c data/augment.c data/dictionary.c data/encoding.c commands/serve/language.cc data/segments.c data/spans.c data/textprofile.c data/tokenizer-extending.cc data/tokenizer-learning.cc data/typography.c data/words.c inference/known.c inference/passage.c scores/codepoints.c scores/tokenization.c
zlib.h              commands/translate/webpage.c data/text.c model/safetensors.c plots/png.c
'
headers_of_the_system='assert|complex|ctype|errno|fenv|float|inttypes|iso646|limits|locale|math
setjmp|signal|stdalign|stdarg|stdatomic|stdbool|stddef|stdint|stdio|stdlib|stdnoreturn|string|time
arpa/inet|cpuid|dirent|fcntl|fnmatch|getopt|dlfcn|glob|immintrin|libgen|malloc|netdb|poll|pthread|sched|search|semaphore|strings|termios|unistd|wasm_simd128|wchar|sys/[a-z]+'
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

# files FOLDER...: its sources, the programs among them left out.
files() {
    for folder; do
        [ -d "$folder" ] && find "$folder" -name '*.[ch]' -o -path "$folder/*" -name '*.cc'
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

# dashes FILE...: "FILE:LINE" of each statement with "--option" in a text. A table of options may have
# it in its help, and the explanation of ./translate --explain in what it says.
dashes() {
    awk 'FNR == 1 { comment = 0; statement = "" }
    {
        line = $0
        if (comment && !sub(/^.*\*\//, "", line)) next
        comment = 0
        sub(/^[ \t]*(#|\/\/).*/, "", line)
        gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, "", line)
        if (sub(/\/\*.*/, "", line)) comment = 1
        if (statement == "") start = FNR
        statement = statement line
        if (line ~ /[;{}][ \t]*(\/\/.*)?$/) {
            if (statement ~ /"[^"]*--[a-z]/ && statement !~ /OPTION_[A-Z]|^ *say\(/)
                print FILENAME ":" start
            statement = ""
        }
    }' "$@" /dev/null
}

# arrow FOLDER MAY_INCLUDE...
arrow() {
    folder=$1
    shift
    list=$(files "$folder")
    [ "$folder" != library ] || list=$(echo "$list" | grep -v '^library/web/')
    [ -n "$list" ] || { report "arrows from $folder" "no file in $folder/"; return; }
    allowed=$(echo "$*" | tr ' ' '|')
    # shellcheck disable=SC2086  # no file of the folders has a space in its name
    report "arrows from $folder" "$(includes $list | awk -v allowed="^\"($allowed)/" '
        $3 ~ /^"/ && $3 !~ /[.]inc"$/ && $3 !~ allowed { print $1 ":" $2 " includes " $3 }')"
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

while read -r line; do
    # shellcheck disable=SC2086
    [ -z "$line" ] || arrow $line
done <<EOF
$arrows
EOF

# shellcheck disable=SC2046,SC2086  # tsort names the files of every circle
report 'no circles' "$(includes $(files $folders) | awk '$3 ~ /^"/ {
        sub(/(-[a-z-]+)?[.][a-z]+$/, "", $1)
        gsub(/"/, "", $3)
        sub(/(-[a-z-]+)?[.][a-z]+$/, "", $3)
        if ($1 != $3) print $1, $3
    }' | tsort 2>&1 >/dev/null | sed 's/^tsort: //')"

# shellcheck disable=SC2086
all=$(files $folders)
set -f
while read -r line; do
    # shellcheck disable=SC2086
    [ -z "$line" ] || library $line
done <<EOF
$headers_of_libraries
EOF

# The network in one file stands alone.
report 'reference/ includes nothing of the project' "$({ includes reference/*.c
    grep -rn --include='*.[ch]' '#include "reference/' $folders; } 2>/dev/null |
    grep -v -E "<(cblas|png|tgmath|zlib|$(echo "$headers_of_the_system" | paste -s -d '|' -))[.]h>\$")"

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
quiet=$(echo "$text" | grep -v '^commands/')
report 'only commands print' "$(echo "$quiet" | grep -E \
    "(^|[^A-Za-z0-9_])(($printing) *\\(|(stdout|stderr)([^A-Za-z0-9_]|\$))" | sed 's/:  */: /')"
report 'only kernels/ names panels of matrices' "$({
    echo "$text"
    # shellcheck disable=SC2086
    includes $all
} | grep -v '^kernels/' | grep -E '(^|[^A-Za-z0-9])(gemm_[a-z]+_panels|in_panels|panels_[a-z]+ *\()|kernels/(panels|tile)[.]h' |
    sed 's/:  */: /')"
# shellcheck disable=SC2046
report 'no error message below commands names a --option' "$(dashes $(files \
    base kernels model training data inference scores plots explain library | grep -v '^base/options'))"
report 'the Makefile compiles vector loops for each kind of processor' "$(
    for file in $(grep -rl --include='*.c' 'omp simd' kernels model inference 2>/dev/null); do
        ! [ -f Makefile ] || sed -n '/^VECTORS/,/^KINDS/p' Makefile | grep -qw "$(basename "$file" .c)" ||
            echo "$file is not in VECTORS"
    done)"
# calls NAMES: "FILE NAME" of each call of the programs.
calls() {
    echo "$text" | grep -v -e '^benchmark/' -e '^library/web/' | awk -v names="(^|[^A-Za-z0-9_>.])($1) *[(]" '{
        file = $1; sub(/:.*/, "", file)
        for (; match($0, names); $0 = substr($0, RSTART + RLENGTH)) {
            call = substr($0, RSTART, RLENGTH); gsub(/[^a-z_]/, "", call); print file, call
        } }' | sort -u
}
report 'no program is started, no connection is opened' "$(calls 'socket|connect|exec[lv][pe]*|system|popen|posix_spawnp?' |
    grep -v '^commands/serve/server.c socket$')"
! [ -f docs/reliability.md ] ||
    report 'docs/reliability.md lists the calls that open, make, rename or remove files' "$({
        calls 'open|creat|fopen|gzdopen|memfd_create|mkstemp|mkdtemp|tmpfile|rename|unlink|remove|mkdir|rmdir|link|symlink|f?truncate'
        awk -F '|' '/^## / { on = /Files that/ } on && $2 ~ /^ `/ {
            n = split($2, part, "`"); for (i = 4; i < n; i += 2) print part[2], part[i] }' docs/reliability.md
    } | sort | uniq -u)"
report 'only commands end the program' "$(echo "$quiet" | grep -E \
    "(^|[^A-Za-z0-9_])($ending) *\\(" | sed 's/:  */: /')"

exit $failed
