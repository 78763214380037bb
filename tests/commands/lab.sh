#!/bin/sh
# lab.sh -- scripts/lab: the generated tasks, the verdicts, wrong use; and with LAB=all its short runs,
# stopped on the way and taken up again, whose figures must be those of docs/lab.tsv within the
# tolerances of scripts/lab-experiments (scripts/check-all lab).
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh

mkdir tree tree/docs
cp -r "$here/scripts" tree
cp "$here"/docs/lab.* tree/docs
ln -s "$here/data" tree/data
lab=$scratch/tree/scripts/lab
export BIN
RUNS=$scratch/runs
export RUNS
unset CORPUS SEEDS JOBS

# ---- the generated tasks ----

generate() {    # TASK PAIRS SEED NAME
    awk -v task="$1" -v pairs="$2" -v seed="$3" -v source="$4.s" -v target="$4.t" -v gold="$4.a" -f tree/scripts/lab-corpus.awk
}
# The target of each source, by another way than the generator's: sort(1) and keys of this file.
expected() {
    while read -r task letters; do
        case $task in
        copy) echo "$letters" ;;
        reverse) echo "$letters" | tr ' ' '\n' | awk '{ line = $0 (NR > 1 ? " " : "") line } END { print line }' ;;
        sort) echo "$letters" | tr ' ' '\n' |
            awk '{ print (index("abcdefghijklmnop", $0) - 1 + 5 * (NR - 1)) % 16, NR, $0 }' | sort -n -k 1,1 -k 2,2 |
            awk '{ printf "%s%s", (NR > 1 ? " " : ""), $3 } END { print "" }' ;;
        esac
    done
}
generate mixed 60 7 mixed
expected <mixed.s >mixed.expected
check "copies, reversals, sorted letters" cmp mixed.t mixed.expected
check "all three tasks" sh -c 'test "$(cut -d " " -f 1 mixed.s | sort -u | paste -s -d " " -)" = "copy reverse sort"'
check "the alignment leads from each letter to itself" sh -c 'paste mixed.s mixed.t mixed.a | awk -F "\t" "
    { split(\$1, s, \" \"); m = split(\$2, t, \" \"); n = split(\$3, links, \" \"); if (n != m) exit 1
      for (k = 1; k <= n; k++) { split(links[k], at, \"-\"); if (s[at[1] + 1] != t[at[2] + 1]) exit 1 } }"'
generate mixed 60 7 again
generate mixed 60 8 other
check "the same seed, the same pairs" cmp mixed.s again.s
check "another seed, other pairs" sh -c '! cmp -s mixed.s other.s'

# ---- verdicts ----

cat >experiments <<'EOF'
experiment e  Title
value    u  15%  updates
claim    u:fast < u:slow  clear
claim    u:slow < u:fast  contrary
claim    u:fast < u:near  within the spread
claim    u:slow = u:alike  equal
claim    u:fast = u:near  equal but for the spread
claim    u:fast = u:slow  unequal
claim    u:slow > u:fast  greater
claim    u:fast < u:never  never reached
claim    u:never < u:never2  both never reached
claim    u:fast < u:none  nothing measured
EOF
for line in fast:100:102:110 slow:200:205:203 near:104:109:105 alike:203:204:206 "never:>400:>400:>400" "never2:>400:>400:>400"; do
    echo "$line" | awk -F : '{ for (s = 1; s <= 3; s++) print "e\t" $1 "\ttoy\t" s "\tu\t" $(s + 1) }'
done >figures
: >losses
: >commands
awk -v figures_file=figures -v losses_file=losses -v commands=commands -v most_seeds=3 -v machine=M \
    -f tree/scripts/lab-report.awk figures losses experiments >report
verdict() { check "verdict: $1" grep -qxE -- "\| $1 \| [^|]* \| [^|]* \| \*$2\* \|" report; }
verdict clear "borne out"
verdict contrary "not borne out"
verdict "within the spread" "not here"
verdict equal "borne out"
verdict "equal but for the spread" "not here"
verdict unequal "not borne out"
verdict greater "borne out"
verdict "never reached" "borne out"
verdict "both never reached" "not here"
verdict "nothing measured" "not measured"
check "medians and the spread" grep -q "| 102 and 203, spread 10.0 |" report

# ---- wrong use ----

"$lab" --list >list
check "--list has every experiment" sh -c 'sed -n "s/^experiment \([^ ]*\) .*/\1/p" tree/scripts/lab-experiments >names
    awk "NR > 1 { print \$1 }" list | sed "/^all$/,\$d" | cmp - names'
check "--list promises less than an hour" awk '$1 == "all" { ok = $4 > 0 && $4 < 60 } END { exit !ok }' list
check "--list writes nothing" test ! -e runs
wrong "no such experiment" 2 "^lab: there is no experiment 'tea': see --list$" "$lab" tea
wrong "no number of jobs" 2 "^lab: JOBS takes a whole number from 1, not 'x'$" env JOBS=x "$lab" start
wrong "no corpus" 1 "^lab: CORPUS: 'nowhere' has no tok/train.* makes one$" env CORPUS=nowhere "$lab" scores
wrong "no place for the runs" 1 "^lab: cannot write '/proc/none'$" env RUNS=/proc/none "$lab" start
wrong "no programs" 1 "^lab: '.*/train' is not there: make builds it$" env BIN="$scratch" "$lab" start

# ---- short runs, interrupted and resumed ----

# They take half a minute, and with an instrumented build many.
if [ "$BIN" != "$here" ] || [ "${LAB:-}" != all ]; then
    echo "skipped the short runs of scripts/lab: scripts/check-all lab has them"
    exit
fi
JOBS=1 "$lab" --quick 2>first.err &
trained() { grep -qs '"update":50,' runs/run/*/metrics.jsonl; }
await trained
kill -TERM $!
wait $!
check "stopped by a signal" test $? -eq 143
check "it says how to go on, and nothing else" sh -c 'grep -v "^lab: [a-z]*, variant" first.err >said; test "$(cat said)" = "lab: stopped; the same command goes on from there"'
stamp() { find runs/run -name trained -printf '%p %T@\n' | sort; }
stamp >before
check "one run is stopped on its way" sh -c 'for f in runs/run/*; do [ -f "$f/trained" ] || ls "$f/last.safetensors"; done | grep -q .'
check "the short runs give the figures of docs/lab.tsv" "$lab" --quick --compare
stamp >after
check "no finished run was repeated" sh -c 'test -s before && test "$(comm -12 before after)" = "$(cat before)"'
check "a report and its figures" sh -c 'grep -q "^| sinusoidal |" runs/lab.md && grep -q "^positions.none.reverse.1.updates" runs/lab.tsv'
sed 's/^\(positions.sinusoidal.reverse.1.updates\).*/\11000/' tree/docs/lab.tsv | awk -F '\t' -v OFS='\t' '/updates1000/ { $5 = "updates"; $6 = 1000 } { print }' >changed
cp changed tree/docs/lab.tsv
wrong "another figure than the page's" 1 "updates is .*, and in docs/lab.tsv 1000, not within 15%" sh -c "'$lab' --quick --compare 2>&1 | grep 1000 >&2; exit 1"
