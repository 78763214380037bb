# checks.sh -- what the command-line tests share; they read it from the root with ".".
#
# A test has $room, a folder of its own that goes with it, and prints "ok NAME" or "not ok NAME: why"
# for each check; $failures counts the latter.
room=$(mktemp -d) || exit 1
trap 'rm -rf "$room"' EXIT
failures=0

pass() { echo "ok $1"; }
fail() {
    echo "not ok $1: $2"
    failures=$((failures + 1))
}
# check NAME COMMAND...: the command succeeds.
check() {
    name=$1
    shift
    if "$@" >check.out 2>check.err; then pass "$name"; else fail "$name" "$(tail -n 3 check.err)"; fi
}
# wrong NAME STATUS PATTERN COMMAND...: one sentence with the pattern, this status, and no output.
# ("reading …", with which ./train begins, is no sentence.)
wrong() {
    name=$1 status=$2 pattern=$3
    shift 3
    "$@" >"$room/out" 2>"$room/err" </dev/null
    got=$?
    if [ $got -ne "$status" ]; then fail "$name" "exit status $got, not $status: $(cat "$room/err")"
    elif [ -s "$room/out" ]; then fail "$name" "standard output is not empty"
    elif ! grep -v '^reading ' "$room/err" | grep -q -- "$pattern"; then fail "$name" "said: $(cat "$room/err")"
    elif [ "$(grep -vc '^reading ' "$room/err")" -ne 1 ]; then fail "$name" "not one sentence: $(cat "$room/err")"
    else pass "$name"; fi
}
# language TRAIN VALID: so many pairs in train.s and train.t, valid.s and valid.t, of a language for
# the tests: the translation is the sentence backwards, in capitals.
language() {
    awk -v train="$1" -v valid="$2" 'BEGIN {
        srand(5); split("one two three four five six seven eight nine ten", word, " ")
        for (i = 0; i < train + valid; i++) {
            n = 2 + int(rand() * 5); source = target = ""
            for (k = 0; k < n; k++) {
                w = word[1 + int(rand() * 10)]
                source = source (k ? " " : "") w; target = toupper(w) (k ? " " : "") target
            }
            print source >(i < train ? "train.s" : "valid.s")
            print target >(i < train ? "train.t" : "valid.t")
        }
    }'
}
