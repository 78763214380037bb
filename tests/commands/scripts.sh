#!/bin/sh
# scripts.sh -- what the scripts say of themselves, that they change nothing meanwhile, and what they
# refuse. Stand-ins for the commands that would change something record that they were called.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh

mkdir tree bin
cp -r "$here/scripts" tree
for command in make apt-get sudo curl wget; do
    printf '#!/bin/sh\necho %s >>"%s"\n' $command "$scratch/called" >bin/$command
    chmod +x bin/$command
done
PATH=$scratch/bin:$PATH
unset BUILD BIN
files() { find tree -printf '%p %s %T@\n' | sort; }
files >before

count=0
for script in tree/scripts/*; do
    [ -x "$script" ] || continue
    count=$((count + 1))
    base=${script##*/}
    for option in -h --help; do
        check "$base $option" sh -c 'cd / && "$0" "$1" >"$2"' "$scratch/$script" $option "$scratch/help"
        check "$base $option prints its head comment" sh -c \
            'sed -n "/^#!/d; /^#/!q; s/^# \{0,1\}//p" "$0" | cmp - help && grep -q "^$1 -- [a-z]" help' "$script" "$base"
    done
    case $base in
    calibration | import) ;; # written in Python
    *) check "sh $base -h, in its folder" sh -c 'cd tree/scripts && sh "$0" -h | cmp - ../../help' "$base" ;;
    esac
    [ "$base" = benchmark ] || wrong "$base --frob" 2 "^$base: unknown argument '--frob': see --help$" "$script" --frob
done
check "there are seventeen scripts" test $count -eq 17
wrong "setup --test" 2 "^setup: unknown argument '--test'" tree/scripts/setup --test
wrong "demo stray" 2 "^demo: unknown argument 'stray'" tree/scripts/demo stray
wrong "check-all lint" 2 "^check-all: unknown argument 'lint'" tree/scripts/check-all lint
wrong "fuzz marian" 2 "'marian' is no number of seconds" tree/scripts/fuzz marian
wrong "get-corpus nowhere" 2 "get-corpus multi30k DIR" tree/scripts/get-corpus nowhere
wrong "get-model nowhere" 2 "get-model NAME" tree/scripts/get-model ../nowhere
wrong "rank-heads without a reference" 2 "give MODEL SOURCE TARGET" tree/scripts/rank-heads model source
files >after
check "nothing was written" cmp before after
check "nothing was built, installed or fetched" test ! -e called
if [ -x "$here/build/benchmark/benchmark" ]; then
    check "a built benchmark shows its options" sh -c '"$0/scripts/benchmark" -h | grep -q -e "^  --sections "' "$here"
else
    echo "skipped the options of scripts/benchmark: it is not built"
fi
