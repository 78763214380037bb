#!/bin/sh
# byhand.sh -- ./translate --by-hand: the examples of docs/by-hand print their tables, and what is
# wrong in a file is said with its line.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh

for file in "$here"/docs/by-hand/*.txt; do
    check "$(basename "$file" .txt)" sh -c '"$0/translate" --by-hand "$1.txt" | cmp - "$1.output"' "$BIN" "${file%.txt}"
done
by_hand() { printf "$1" | "$BIN/translate" --by-hand - >out 2>err; }
# row TEXT PATTERN: the printed steps of these blocks have this line.
row() {
    by_hand "$1"
    check "$(printf "$1" | head -n 1): $2" grep -q "$2" out
}
qkv='query\n1 0\n2 1\nkey\n1 2\n3 4\nvalue\n5\n6\n'
row "score = dot\n$qkv" "^  1 *(1)(1) + (0)(2) = 1.000"
row "score = dot-over-d\n$qkv" "^  2 *3.000 *1.500 *1.0000 *0.7311 "
row "score = laplace\n$qkv" "^  1 *-(|1 - 1| + |0 - 2|) = -2.000"
row "score = cosine\nscale = 1\n$qkv" "^  2 *((1)(3) + (0)(4)) / (1.000 × 5.000) = 0.600"
row "mask = causal\n$qkv" "^  2 .* -∞ *0.0000 *0.0000 masked"
row "mask\n0 1\n1 1\n$qkv" "^  1 .* -∞ *0.0000 *0.0000 masked"
row "x # a comment\na 1 2\nW_V\n3 0\n0 4\n" "^    a *3.000 *8.000"
# narrow NAME: no line of out is wider than 79 columns (a character is one byte without those that
# continue it).
narrow() {
    check "$1" test -z "$(LC_ALL=C tr -d '\200-\277' <out | LC_ALL=C awk 'length > 79')"
}
cat "$here"/docs/by-hand/*.output >out
narrow "the examples have 79 columns"
by_hand "query\n1\nkey\n1\nvalue\na-long-label-of-a-row -123456 -1e6 -12345.6 999 5 6 7 8 9\n"
narrow "wide vectors of large numbers have 79 columns"
by_hand "query\n-0.0012345678 -123456.7 -765432.1 0.000012345\nkey\n-123456.7 -765432.1 -0.0001 1\nvalue\n1\n"
narrow "long numbers have 79 columns"
check "all terms of long numbers" grep -q '^ *(-765432)(-0.0001) + ' out
by_hand "x\n-1 -1e6 1e6 1e6 -1e6 1\nW_Q\n-123456 1e6 -1e6 1 1 1\n1 1e6 1 1 1 1\n1 1 -1e6 1 1 1\n1e6 1 1 1 1 1\n1e6 1 1 1e5 1 1\nW_K\n1 2 3 4 5 6\n1 2 3 4 5 6\n1 2 3 4 5 6\n1 2 3 4 5 6\n1 2 3 4 5 6\n"
narrow "long projections have 79 columns"
"$BIN/translate" --by-hand "$here/docs/by-hand/2-quick-jumps.txt" --word fox >out
check "--word follows another query" grep -q 'query of "fox"' out
"$BIN/translate" --by-hand "$here/docs/by-hand/2-quick-jumps.txt" --attention map.png --quiet >out
check "a picture" sh -c 'head -c 4 map.png | grep -q PNG'
# said NAME LINE PATTERN TEXT: a file with this text gives one sentence, with the number of the line.
said() {
    printf "$4" >file.txt
    wrong "$1" 1 "^translate: file.txt:$2: .*$3" "$BIN/translate" --by-hand file.txt
}
said "a row before a block" 1 "begins with query, key, .*, not with 1" '1 2\n'
said "a block of another name" 3 "begins with query, key, .*, not with vlaue" 'key\n1\nvlaue\n'
said "no number" 2 "not 'two'" 'query\n1 two\n'
for first in nan 1e9; do
    said "$first begins a row" 2 "a number from -1000000 to 1000000, not '$first'" "query\n$first 2\n"
done
for value in 0,5 −1; do
    said "$value after a label" 3 "'$value' is no number: write 0.5 or -1, or quote the label" "query\nquick 1 2\nfox $value 2\n"
    said "$value begins a row" 3 "'$value' is no number" "query\n1 2\n$value 2\n"
done
said "NaN as a label" 2 "without a label in quotes, a row takes .*, not 'NaN'" 'query\nNaN 1 2\n'
said "a quote without an end" 2 "the quote is not closed" 'query\n"New York 1 2\n'
said "another encoding, and no option that is not taken" 2 "convert the file.* -t UTF-8)$" 'query\nd\303\251j\340 1 2\n'
said "a setting twice" 3 "already a setting score" 'score = dot\nscale = 2\nscore = cosine\n'
ones=$(seq 257 | sed 's/.*/1/' | tr '\n' ' ')
said "257 numbers" 2 "at most 256 rows and as many columns" "query\n$ones\n"
said "257 rows" 258 "at most 256 rows and as many columns" "query\n$(echo $ones | tr ' ' '\n')\n"
said "a label and 257 numbers" 2 "at most 256 rows and as many columns" "query\na $ones\n"
row "query\na ${ones% 1 }\nkey\na ${ones% 1 }\nvalue\n1\n" "= 256.000"
said "a label of 64 bytes" 2 "at most 63 bytes" "query\n$(printf '%064d' 0 | tr 0 a) 1\n"
said "rows of two lengths" 3 "this row has 1 numbers, and the one before 2" 'query\n1 2\n1\n'
said "a block twice" 3 "already a block query" 'query\n1\nquery\n2\n'
said "an unknown score" 1 "score takes scaled-dot, dot" 'score = euclid\n'
said "an unknown setting" 2 "a setting is" '\nsore = dot\n'
said "a setting without a value" 1 "a setting is" 'scale =\n'
for setting in "score dot" "scale 2" "mask causal"; do
    said "$setting without =" 3 "a setting is score = NAME" "value\n1\n$setting\n"
done
row "score=dot\nscale =2\n$qkv" "^  2 *3.000 *6.000 *1.0000 *0.9820 "
said "no keys" 2 "key is missing" 'query\n1\n'
said "other widths" 3 "key has 1 columns, as query has, not 2" 'query\n1\nkey\n1 2\nvalue\n1\n'
said "a value is missing" 6 "value has 2 rows, one for each key, not 1" 'query\n1\nkey\n1\n2\nvalue\n1\n'
said "a mask of another height" 1 "mask has 2 rows, one for each query, not 1" "mask\n1 1\n$qkv"
said "a mask of another width" 2 "mask has 2 columns, one for each key, not 1" "# 1\nmask\n1\n1\n$qkv"
said "a query that sees nothing" 1 "row 2 of the mask" "mask\n1 1\n0 0\n$qkv"
said "a mask with a 2" 1 "row 2 of the mask needs only 0 and 1" "mask\n1 1\n1 2\n$qkv"
said "a mask that leaves nothing of causal" 2 "row 1 of the mask" "mask = causal\nmask\n0 1\n1 1\n$qkv"
said "query and W_Q" 3 "both given" 'query\n1\nW_Q\n1\nx\n1\n'
said "W_Q of another width" 3 "W_Q has 2 columns, as x has, not 1" 'x\n1 2\nW_Q\n1\n'
wrong "an unknown word" 1 "neither one of the 3 tokens" "$BIN/translate" --by-hand "$here/docs/by-hand/2-quick-jumps.txt" --word cow
wrong "no such file" 1 "nowhere" "$BIN/translate" --by-hand nowhere
wrong "with a text" 2 "needs no text" "$BIN/translate" --by-hand nowhere text

# The way back, against differences: the loss is 2 times the output of a, and values are large, as 3 decimals are printed.
loss() {
    printf 'score = %b\nquery\na %s 0.5\nkey\nx 1 %s\ny 0.3 -1\nvalue\n1000\n-500\ngradient\n2\n' "${3:-scaled-dot}" "$1" "$2" >back
    "$BIN/translate" --by-hand back | awk '/^  outputs/ { getline; print 2 * $2 }'
}
slope() { awk -v up="$1" -v down="$2" 'BEGIN { printf "%.1f", (up - down) / 0.02 }'; }
near() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && (a - b) ^ 2 < 0.3 ^ 2 && b ^ 2 > 1) }'; }
dq=$(slope "$(loss 1.01 2)" "$(loss 0.99 2)") dk=$(slope "$(loss 1 2.01)" "$(loss 1 1.99)")
loss 1 2 >out
"$BIN/translate" --by-hand back --backward >out
check "--backward: dQ" near "$(awk '/^  dQ$/ { getline; print $2 }' out)" "$dq"
check "dK" near "$(awk '/^  dK$/ { getline; print $3 }' out)" "$dk"
check "dV is 2 P" awk '/^  dV$/ { getline; v = $2; getline; w = $2 } END { exit !((v + w - 2) ^ 2 < 1e-5 && v > 1 && w > 0.1) }' out
check "rows of dS sum to 0" awk '/^  dS$/ { getline; s = $2 + $3; found = $2 != 0 } END { exit !(found && s ^ 2 < 1e-5) }' out
"$BIN/translate" --by-hand "$here/docs/by-hand/5-shared-projection.txt" --backward >out
check "dW_Q, dW_K and dW_V" test "$(grep -c '^  dW_[QKV] = d[QKV]ᵀ X' out)" = 3
printf 'gradient\n1 2\n' >>back
# In that file an update lowers the score of jane and jane, whose dS is -0.234, too.
check "dS promises nothing of an update" sh -c 'tr "\n" " " <out | grep -q "loss would fall if this score alone fell;"'
wrong "two gradients" 1 "there is already a block gradient" "$BIN/translate" --by-hand back --backward
for score in 'cosine\nscale = 1' laplace; do
    dq=$(slope "$(loss 0.71 2 "$score")" "$(loss 0.69 2 "$score")")
    loss 0.7 2 "$score" >out
    "$BIN/translate" --by-hand back --backward >out
    check "--backward of ${score%%\\*}: dQ" near "$(awk '/^  dQ$/ { getline; print $2 }' out)" "$dq"
done

# Several heads: each prints what its part of the numbers alone gives, and the outputs stand side by side.
printf 'mask\n0 1\n1 1\nquery\na 1 0 0 2\nb 0 1 1 1\nkey\nc 2 1 1 0\nd 0 1 3 1\nvalue\n1 2 30 4\n0 5 60 7\ngradient\n1 2 3 4\n5 6 7 8\n' >whole
(echo "heads = 2" && cat whole) >two
"$BIN/translate" --by-hand two --backward >out
steps() { sed 's/^[0-9]*[.] //' "$1" | grep . ; }
for head in 1 2; do
    awk -v d=$((2 * head - 2)) 'NF < 4 { print } NF >= 4 { print (NF > 4 ? $1 : ""), $(NF - 3 + d), $(NF - 2 + d) }' whole >part
    "$BIN/translate" --by-hand part --backward >alone.$head
    steps alone.$head | sed -n '/^The query is compared/,$p' >expected
    steps out | awk -v head=$head '/^Head / { now = $2; next } /^Concatenation/ { now = 0 } now == head' >printed
    check "head $head is as it is alone" cmp expected printed
done
first() { awk '/^  outputs/ { getline; $1 = ""; print }' "$1"; }
check "the concatenation" test "$(first out | tail -n 1)" = "$(first alone.1)$(first alone.2)"
said "columns for 2 heads" 3 "query has 4 columns, a multiple of the heads, not 3" 'heads = 2\n\nquery\n1 2 3\nkey\n1 2 3\nvalue\n1 2\n'
said "too many heads" 1 "heads takes a whole number from 1 to 8, not '9'" 'heads = 9\n'

# The page has all numbers, and what its script makes of them is what they are.
. "$here/tests/fixtures/browser.sh"
"$BIN/translate" --by-hand two --attention page.html --attention two.png --quiet >out
check "a page" grep -q '"queries":\["a","b"\],"keys":\["c","d"\],"mask":\[\[0,1\],\[1,1\]\]' page.html
check "without --backward it has no gradients" sh -c 'grep -q "\"backward\":false" page.html && ! grep -q "\"dS\":" page.html'
if [ -n "$browser" ]; then
    "$BIN/translate" --by-hand two --backward --attention page.html --quiet >out
    browse page.html byhand-checks.js 1200,900
else
    echo "skipped the page in a browser: there is no Chromium"
fi

# Labels of several words, of digits, and of characters without a font.
printf 'query\nNew York 1 2\n  "2023" 0 1\n1st 1 1\n- 1 1\nkey\n"a  b" 1 2\nkey x 2 1 # "#"\n"C#" 1 1#\nvalue\n1\n2\n3\n' >labels
"$BIN/translate" --by-hand labels >out
for label in 'New York' 2023 'a  b' 'key x' 'C#' 1st -; do check "the label $label" grep -q "^    $label  *[0-9.]*  *[0-9.]*$" out; done
printf 'query\n1 2\n2023 0 1\n' >digits
wrong "a number without quotes" 1 "digits:3: this row has 3 numbers.*a label that is a number stands in quotes" "$BIN/translate" --by-hand digits
printf 'query\na\315\270 1\nkey\nb 1\nvalue\n1\n' >strange
"$BIN/translate" --by-hand strange --attention strange.png >out 2>err
check "a character without a font is named" grep -q "no font for .*: install one, such as fonts-noto-core" err

# A terminal reorders a row that begins with Arabic, unless U+200E ends the label.
printf 'query\n\330\255\330\250 1 0\n\330\250\330\255 0 1\nkey\nlove 3 0\nto 0 3\nvalue\n1\n2\n' >arabic
"$BIN/translate" --by-hand arabic >out
check "U+200E stands around words from right to left" grep -q "$(printf '^ *\342\200\216\330\255\330\250\342\200\216  *1.000  *0.000$')" out
check "and only around these" sh -c '! grep love out | grep -q "$0"' "$(printf '\342\200\216')"
if command -v fribidi >/dev/null; then
    fribidi --nobreak --nopad --ltr <out >seen
    check "so their numbers stay in order" sh -c 'grep -o "[0-9][0-9.]*" out >a && grep -o "[0-9][0-9.]*" seen | cmp - a'
else
    echo "skipped the order of numbers: there is no fribidi"
fi
