#!/bin/sh
# install.sh -- make install and make uninstall: what is where, whether it runs there, whether the man
# pages know every option, and what TAB offers.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh

run_make() { MAKEFLAGS='' make -s -C "$here" BUILD="${BUILD:-build}" BIN="$BIN" "$@"; }
root="$scratch/a root"
usr="$root/opt/qkv"
check "make install" run_make install PREFIX=/opt/qkv DESTDIR="$root"

# ---- what is where ----
for file in bin/qkv-train bin/qkv-translate bin/qkv-serve; do
    check "$file is a program" test -x "$usr/$file"
done
for file in share/man/man1/qkv-train.1 share/man/man1/qkv-translate.1 share/man/man1/qkv-serve.1 \
    lib/systemd/system/qkv-serve.service \
    share/bash-completion/completions/qkv-train share/bash-completion/completions/qkv-translate \
    share/zsh/site-functions/_qkv \
    share/doc/qkv/README.md share/doc/qkv/LICENSE share/qkv/toy/train.en.gz share/qkv/toy/test.fr; do
    check "$file can be read by all, and run by none" \
        sh -c 'test -s "$1" && test "$(stat -c %a "$1")" = 644' sh "$usr/$file"
done
check "everything is below PREFIX" sh -c 'test "$(ls "$1")" = opt && test "$(ls "$1/opt")" = qkv' sh "$root"
grep -o ']([^)#:]*)' "$here/README.md" | tr -d ']()' | sort -u >links
check "every link of the installed README leads somewhere" sh -c '
    test -s "$2" && cd "$1" && while read -r link; do
        test -e "$link" || { echo "$link" >&2; exit 1; }; done <"$2"' sh "$usr/share/doc/qkv" "$scratch/links"
check "BINDIR, DATADIR, MANDIR and DOCDIR are for others to choose" run_make \
    install BINDIR="/b" DATADIR="/s" MANDIR="/m" DOCDIR="/d" DESTDIR="$scratch/x"
check "and they are followed" sh -c '
    cd "$1" && test -x b/qkv-train -a -s d/README.md -a -s m/man1/qkv-train.1 -a -s s/qkv/toy/train.en.gz \
        -a -s s/zsh/site-functions/_qkv -a ! -e usr/local/bin -a ! -e usr/local/share' sh "$scratch/x"

check "the programs' addresses of functions are read-only" sh -c '
    readelf -d "$1/bin/qkv-train" | grep -q BIND_NOW && readelf -lW "$1/bin/qkv-train" | grep -q GNU_RELRO' sh "$usr"

wrong "a PREFIX with a blank" 2 "without blanks: DOCDIR\\. " run_make install DOCDIR="/the docs" DESTDIR="$scratch/blank"
check "of which nothing is installed" test ! -e "$scratch/blank"

# ---- the processor of an earlier build ----
object() { MAKEFLAGS='' make -s -C "$here" BUILD="$scratch/native" CFLAGS="-O1 $1" ${2:+"$2"} "$scratch/native/base/utf8.o"; }
check "an object for this processor alone" object -march=native
check "is kept by the same command" sh -c 'test -z "$1"' sh "$(object -march=native -n)"
check "and made again for all processors, which make install needs" sh -c 'test -n "$1"' sh "$(object "" -n)"

# ---- sources in a folder whose name the shell would split ----
mkdir "$scratch/it's (1)" && cp -r "$here/Makefile" "$here/base" "$scratch/it's (1)" || exit 1
check "make in a folder named it's (1)" env MAKEFLAGS= make -s -C "$scratch/it's (1)" build/base/utf8.o

# ---- the programs, in a folder that has nothing of qkv in it ----
mkdir -p work/empty && cd work || exit 1
PATH="$usr/bin:$PATH"
small="--d-model 16 --heads 2 --ffn 16 --max-updates 2 --valid-translations 2 --valid-every 2"
check "qkv-train finds the built-in corpus" sh -c "qkv-train $small 2>log && test -s checkpoints/toy/best.safetensors"
check "it names the program to go on with" grep -q \
    "^translate with: qkv-translate --model checkpoints/toy --attention attention.png '[^']*'$" log
check "qkv-translate finds the model" sh -c 'qkv-translate "jane visits africa" >out 2>err && test "$(wc -l <out)" = 1'
qkv-translate "Jane Visits AFRICA" >capitals 2>err
check "the toy folds case" sh -c 'cmp out capitals && ! grep -q vocabulary err'
check "without a model qkv-translate uses the one that is installed, and says so" sh -c \
    "cd empty && test \"\$(qkv-translate 'jane visits africa in september' 2>err)\" = \"jane visite l'afrique en septembre\" &&
    grep -q '^qkv-translate: using the toy model .*/share/qkv/toy/model.safetensors; qkv-train makes your own' err"
check "--model toy is that one, also where a trained one is" sh -c \
    "test \"\$(qkv-translate --model toy 'jane visits africa in september' 2>&1)\" = \"jane visite l'afrique en septembre\""
check "a model that is named and missing is an error" sh -c \
    "cd empty && ! qkv-translate --model none one 2>err && grep -q '^qkv-translate: no model .*: qkv-train makes one' err"
check "an error has the program's name" sh -c "! qkv-train --lerning-rate 1 2>err && grep -q '^qkv-train: unknown' err"
mkdir elsewhere && cp "$usr/bin/qkv-train" elsewhere
check "without its corpus qkv-train says where it looked" sh -c \
    "! elsewhere/qkv-train --dry-run 2>err && grep -q '^qkv-train: the toy corpus (train.en.gz) is neither in' err"

# ---- every option, and no other, everywhere ----
# names: of the options that standard input mentions, one a line, sorted.
names() { grep -o -E -e '(^|[ ,])(--(\[no-\])?[a-z][a-z0-9-]*|-[a-z]\b)' | tr -d ' ,' | sed '/\[no-\]/{h; s//no-/p; g; s/\[no-\]//;}' | sort; }
for program in qkv-train qkv-translate qkv-serve; do
    page="$usr/share/man/man1/$program.1"
    $program --help | sed -nE 's/^  ((-[a-z], )?--[^ ]*|-[a-z]( |$)).*/\1/p' | names >help.names
    check "$program: there are options" test "$(wc -l <help.names)" -gt 30
    check "$program: three of them are letters" test "$(grep -c '^-.$' help.names)" -eq 3
    $program --help | sed '/^Presets/,$d' | awk 'blank && /^[A-Z]/; { blank = !NF }' >help.groups
    check "$program: its help calls it by its name" sh -c "$program --help | grep -q '^Usage: $program '"
    sed -n '/^\.TP/{n; s/\\-/-/g; s/\\f[BR]//g; p;}' "$page" | sed -nE 's/^((-[a-z], )?--[^ ]*|-[a-z]$).*/\1/p' | names >page.names
    check "$program: its page has every option, and no other" cmp help.names page.names
    grep -E '^\.B(R|I)? \\-\\-' "$page" | grep -o '\\-\\-[a-z][a-z\-]*[a-z]' | tr -d '\\' | grep -vE '^--(name|no)$' | sort -u >page.named
    check "$program: its page names no other in its sentences" test -z "$(comm -23 page.named help.names)"
    check "$program: its page has the groups" sh -c \
        'test -s help.groups && sed -n "s/^.SS //p" "$1" | cmp - help.groups' sh "$page"
    check "$program: its page has the version" grep -q "\"$($program --version | sed 's/,.*//')\"" "$page"
    check "$program: nothing is left to replace in it" sh -c '! grep "@[a-z]*@" "$1"' sh "$page"
done
check "the page has the presets as the help has them" sh -c '
    qkv-train --help | sed -n "/^ *toy  *tiny  *small  *base\$/,\$p" >help.preset
    sed -n "/^ *toy  *tiny  *small  *base\$/,/^\./{/^\./!p;}" "$0" >page.preset
    test "$(wc -l <help.preset)" -gt 15 && cmp help.preset page.preset
    ' "$usr/share/man/man1/qkv-train.1"

# ---- how the pages look, and whether what they show runs ----
if command -v groff >/dev/null; then
    for program in qkv-train qkv-translate qkv-serve; do
        check "groff has nothing to say about $program(1)" sh -c \
            'groff -man -Tutf8 -ww "$1" 2>&1 >shown | tee said >&2; test -s shown -a ! -s said' sh \
            "$usr/share/man/man1/$program.1"
        check "$program(1) shows what the help says" sh -c \
            'sed "s/.\[[0-9;]*m//g" shown | tr -s " \n" "  " | grep -q -e "0: one for each processor"'
    done
else
    echo "skipped the look of the man pages: there is no groff"
fi
if command -v mandoc >/dev/null; then
    check "mandoc has nothing to say about them" sh -c 'mandoc -Tlint -Wwarning "$@" >&2' sh "$usr"/share/man/man1/*.1
else
    echo "skipped mandoc's opinion of the man pages: there is no mandoc"
fi

# The examples as they stand, but that texts and training are short.
for file in train.en.gz train.fr.gz; do gzip -dc "$usr/share/qkv/toy/$file" | head -n 900 | gzip >$file; done
for file in valid.en valid.fr test.en test.fr; do head -n 5 "$usr/share/qkv/toy/$file" >$file; done
mkdir bin
printf '#!/bin/sh\nexec "%s" "%s" "$@" %s\n' "$latest" "$usr/bin/qkv-train" "$small --quiet" >bin/qkv-train
chmod +x bin/qkv-train
for program in qkv-train qkv-translate; do
    sed -n '/^.SH EXAMPLES/,/^.SH SEE/p' "$usr/share/man/man1/$program.1" |
        sed -n '/^.EX/,/^.EE/{/^\.E/!p;}' | sed 's/\\-/-/g; s/\\e/\\/g' >examples
    check "$program(1) has examples" test "$(grep -c "^$program" examples)" -ge 4
    check "the examples of $program(1) run" env PATH="$PWD/bin:$PATH" sh -e examples
done
check "and leave what they name" test -s look.png -a -s look.html -a -s test.out -a -s small.safetensors -a \
    -s checkpoints/mine/best.safetensors

# ---- what TAB offers ----
for program in qkv-train qkv-translate qkv-serve; do
    check "bash completes $program by its help" bash --norc -c '. "$0" && [[ $(complete -p $1) == *_longopt* ]]' \
        "$usr/share/bash-completion/completions/$program" $program
done
if command -v zsh >/dev/null; then
    check "zsh offers options" zsh -f -c 'fpath=("$1" $fpath); autoload -U compinit && compinit -u -d "$2" &&
        test "${_comps[qkv-train]}" = _qkv' zsh "$usr/share/zsh/site-functions" "$scratch/zcompdump"
else
    echo "skipped completion in zsh: there is no zsh"
fi

# ---- and away again ----
cd "$scratch" || exit 1
: >"$usr/share/doc/qkv/note"
check "make uninstall" run_make uninstall PREFIX=/opt/qkv DESTDIR="$root"
check "it leaves what is another's" test -e "$usr/share/doc/qkv/note"
rm "$usr/share/doc/qkv/note"
check "and nothing of its own" sh -c 'find "$1" ! -type d >&2; test -z "$(find "$1" ! -type d)"' sh "$root"
check "make uninstall once more" run_make uninstall PREFIX=/opt/qkv DESTDIR="$root"
check "no folder named qkv is left" sh -c 'test -z "$(find "$1" -mindepth 1 -name qkv -type d)"' sh "$usr"
