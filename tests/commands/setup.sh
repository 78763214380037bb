#!/bin/sh
# setup.sh -- from a bare machine to the first model: make without the packages, scripts/setup while
# another program uses apt, and what scripts/demo says at its end. Stand-ins for apt-get, make, ./train
# and ./translate do the work.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh

# ---- make ----
unset MAKEFLAGS MFLAGS MAKELEVEL PKG_CONFIG_PATH
bare() { PKG_CONFIG_LIBDIR=/nonexistent make -C "$here" -n "$@" >out 2>err; }
bare
check "make without the packages fails" test $? -eq 2
check "in one line, which names them and scripts/setup" sh -c \
    'test "$(grep -vc "^make: \(Enter\|Leav\)ing" err)" = 1 && ! grep -q "cc \|g++ " out &&
     grep -q "missing: libpng zlib sentencepiece jansson expat pangocairo icu-uc icu-i18n gumbo libmicrohttpd openblas. Run scripts/setup\. " err'
bare -j4 test
check "so does make test, for which there is --tests" grep -q "openblas cmocka. Run scripts/setup --tests\. " err
bare CXX=/nonexistent/c++
check "and a missing compiler is named" grep -q "missing: /nonexistent/c++ libpng" err
for goal in help clean format; do
    check "make $goal needs no packages" bare $goal
done

# ---- scripts/setup ----
# An apt-get that fails as often as the file `held` says; a command that it installs.
mkdir bin
cat >bin/apt-get <<'END'
#!/bin/sh
echo "$*" >>calls
left=$(cat held)
case $1-$(cat lock) in install-* | update-lists) ;; *) left=0 ;; esac
if [ "$1-$(cat lock)" = install-lists ] && ! [ -e updated ]; then echo "E: Unable to locate package" >&2; exit 100; fi
if [ "$left" -gt 0 ]; then
    echo $((left - 1)) >held
    echo "E: Could not get lock /var/lib/x/lock. It is held by process 7 (apt)" >&2
    exit 100
fi
if [ "$1" = update ]; then touch updated; fi
END
printf '#!/bin/sh\necho "$*" >>slept\n' >bin/sleep
printf '#!/bin/sh\necho 0\n' >bin/id
chmod +x bin/*
# setup LOCK TIMES: scripts/setup, for which only procps is missing, while LOCK is held.
cp "$here/scripts/options.sh" .
sed 's/eval "$check"/[ "$package" != procps ]/' "$here/scripts/setup" >setup.sh
setup() {
    rm -f calls slept updated
    echo "$1" >lock
    echo "$2" >held
    PATH=$scratch/bin:$PATH sh setup.sh --tests >out 2>err
}
setup dpkg 0
check "setup installs what is missing" sh -c \
    'grep -qx "install -y --no-install-recommends procps" calls && ! test -e slept'
setup dpkg 3
check "it waits for dpkg's lock" test $? -eq 0 -a "$(wc -l <slept)" -eq 3
check "and says so once" test "$(grep -c 'waiting for at most two minutes' err)" -eq 1
setup lists 2
check "and for that of the package lists" test $? -eq 0 -a "$(wc -l <slept)" -eq 2
setup dpkg 1000
check "for two minutes" test $? -eq 1 -a "$(wc -l <slept)" -eq 24
check "then it says who holds it" grep -q 'held by process 7' err

# ---- scripts/demo ----
mkdir -p demo/scripts demo/data/toy demo/checkpoints/toy
cp "$here/scripts/demo" "$here/scripts/options.sh" demo/scripts
echo x | tee demo/data/toy/test.en >demo/data/toy/test.fr
printf '#!/bin/sh\n' | tee demo/scripts/setup bin/make >demo/train
printf '#!/bin/sh\necho x\n' >demo/translate
chmod +x demo/scripts/* demo/train demo/translate bin/make
demo() { PATH=$scratch/bin:$PATH sh demo/scripts/demo >out 2>err; }
demo
check "the demo ends well" test $? -eq 0
check "and names what it wrote" grep -q "^demo: written: attention.png, " err
check "and the next command" grep -q ': ./translate --model checkpoints/toy --attention attention.html "jane ' err
printf '#!/bin/sh\ntrap "exit 130" INT; kill -INT $PPID $$\n' >demo/train
demo
check "interrupted, it fails" test $? -eq 130
check "and says how to go on" grep -q "^demo: scripts/demo goes on from there$" err
