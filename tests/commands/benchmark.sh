#!/bin/sh
# benchmark.sh -- scripts/benchmark: its tables, the keys and plausible values of its JSON, and one
# sentence for wrong use.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh
cd "$here" || exit 1
BUILD=${BUILD:-build}
export BUILD BIN

# is NAME EXPRESSION...: test EXPRESSION.
is() {
    name=$1
    shift
    if test "$@"; then pass "$name"; else fail "$name" "not $*"; fi
}
# between NAME LEAST MOST KEY FILE: every value of the key is above LEAST and below MOST; one is there.
between() {
    if sed -n "s/.*\"$4\": \([-+.0-9e]*\),*\$/\1/p" "$5" |
        awk -v least="$2" -v most="$3" '
            !($1 > least && $1 < most) { bad = 1 } END { exit bad || !NR }'
    then pass "$1"; else fail "$1" "$(grep "\"$4\"" "$5" | tr -s ' \n' ' ')"; fi
}

# ---- training ----
scripts/benchmark --json "$scratch/train.json" --only tiny --seconds 0.01 --threads 2 --sections train \
    >"$scratch/table" 2>"$scratch/err"
status=$?
is "training is measured" $status -eq 0
[ $status -eq 0 ] || cat "$scratch/err"
json=$scratch/train.json
is "nothing is said when there is no terminal" ! -s "$scratch/err"
for key in config threads updates tokens tokens_per_second gflops peak_gflops share_of_peak \
    share_of_peak_median tile_gflops share_of_tile resident_mb; do
    is "JSON has $key" "$(grep -c "\"$key\":" "$json")" -ge 1
done
# OpenBLAS that is told to use AVX2 has half as wide vectors as the program with AVX-512, which reaches
# up to 2.2 of its speed on an EPYC Zen 5.
most=1.5
[ "${OPENBLAS_CORETYPE:-}" != Haswell ] || most=3
between "share of peak" 0 $most share_of_peak "$json"
between "share of the tile" 0 9 share_of_tile "$json"
between "median share of peak" 0 $most share_of_peak_median "$json"
between "tokens of three updates of at most 8,000" 22500 24001 tokens "$json"
between "speed" 10 1e8 tokens_per_second "$json"
between "memory" 10 100000 resident_mb "$json"
between "updates" 2 4 updates "$json"
# gflops, tokens/s and the share belong together: share = gflops / peak_gflops.
if awk -F '[:,]' '/"gflops"/ { g = $2 } /"peak_gflops"/ { p = $2 }
    /"share_of_peak"/ { n++; d = $2 - g / p; if (d > 1e-9 || d < -1e-9) bad = 1 }
    END { exit bad || !n }' "$json"
then pass "share is gflops over peak"; else fail "share is gflops over peak" "it is not"; fi
is "the table has a line for tiny" "$(grep -c '^tiny ' "$scratch/table")" -ge 1

# ---- decoding, and a corpus of one's own ----
i=0
while [ $i -lt 80 ]; do
    echo "the cat number $i sees the dog in the house"
    i=$((i + 1))
done >"$scratch/source"
tr a-z A-Z <"$scratch/source" >"$scratch/target"
scripts/benchmark --json "$scratch/decode.json" --only tiny --seconds 0.01 --threads 1 \
    --sections decode --corpus "$scratch/source" --corpus-target "$scratch/target" >"$scratch/table" \
    2>"$scratch/err"
is "translating is measured" $? -eq 0
between "sentences a second" 1 1e7 sentences_per_second "$scratch/decode.json"
between "share of peak in translating" 0 9 share_of_peak "$scratch/decode.json"
between "memory in translating" 5 10000 resident_mb "$scratch/decode.json"
between "one sentence alone" 0 10000 single_sentence_ms "$scratch/decode.json"
is "greedy and beam search, both twice" "$(grep -c '"beam": [15],' "$scratch/decode.json")" -eq 4
is "floats and int8" "$(grep -c '"weights": "int8",' "$scratch/decode.json")" -eq 2
is "the corpus is named" "$(grep -c 'corpus   source: 80 pairs' "$scratch/table")" -eq 1

# ---- starting ----
scripts/benchmark --json "$scratch/start.json" --sections startup >"$scratch/table" 2>"$scratch/err"
is "starting is measured" $? -eq 0
between "seconds to the first line" 0 60 translate_seconds "$scratch/start.json"

# ---- wrong use ----
wrong "an unknown option" 2 "^benchmark: .*unknown option .--fast." scripts/benchmark --fast
wrong "an unknown section" 2 "^benchmark: .*--sections takes train" scripts/benchmark --sections train,lunch
wrong "an unknown size" 2 "^benchmark: .*--only takes all, tiny, small or base" scripts/benchmark --only huge
wrong "half a corpus" 2 "^benchmark: .*go together" scripts/benchmark --corpus "$scratch/source"
wrong "the peer alone" 2 "^benchmark: .*goes with train" scripts/benchmark --sections peer
wrong "a corpus that is not there" 1 "^benchmark: .*none.en" scripts/benchmark --corpus "$scratch/none.en" --corpus-target \
    "$scratch/target"
