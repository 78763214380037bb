#!/bin/sh
# references.sh -- the scores of files: several references, several systems, tokenizations of BLEU, and what is said of
# scores that mean little. tests/scores has the figures.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh

score() { "$BIN/translate" "$@"; }
printf 'a b c d e\nf g h i j k\n' >hyp
printf 'a b c x e\nf g h i j k\n' >ref
printf 'a b c d x\n\n' >other
printf 'a x c d e\nf g y i j k\n' >worse

# ---- several references ----
score --hypothesis hyp --reference ref --reference other >out 2>err
check "two references, one of them empty in a line" grep -q '^BLEU|nrefs:var|.* hyp_len = 11 ref_len = 11)$' out
check "TER counts the nearer one" grep -qx 'TER|nrefs:var|case:lc|.* = 9.09' out
score --hypothesis hyp --reference other --reference ref >turned
check "their order does not matter" cmp out turned
score --hypothesis hyp --reference ref --reference ref >twice
score --hypothesis hyp --reference ref >once
check "twice the same is one" sh -c 'sed s/nrefs:2/nrefs:1/ twice | cmp - once'
head -n 1 ref >short
wrong "a shorter reference" 1 "'short' has only 1 lines, but there are more translations" \
    score --hypothesis hyp --reference ref --reference short
wrong "a longer one" 1 "'ref' has more lines than the 1 translations" score --hypothesis short --reference ref
: >empty
wrong "two empty files" 1 "'empty' is empty: there is nothing to score" score --hypothesis empty --reference empty
echo >blank
wrong "two files with an empty line" 1 "'blank' has only empty lines, or too long ones: there is nothing to score" score --hypothesis blank --reference blank
head -c 1100000 /dev/zero | tr '\0' a >huge
score --hypothesis huge --hypothesis huge --reference huge >out 2>err
check "two files with one line that is too long" sh -c 'test $0 -eq 1 && grep -q "too long ones: there is nothing to score" err' $?
wrong "a number given twice" 2 "--beam takes one value, but is given two: '3' and '4'" score --beam 3 --quiet --beam=4 x
wrong "a choice" 2 "--split takes one value, but is given two: 'auto' and 'auto'" score --split auto --split auto x
wrong "a file, of ./train" 2 "--output takes one value, but is given two: 'a' and 'b'" "$BIN/train" --output a --output b

# ---- several systems ----
score --hypothesis hyp --hypothesis worse --reference ref >out
check "each system has its scores" sh -c 'test "$(grep -c "^BLEU" out)" = 2 && grep -qx hyp out && grep -qx worse out'
check "and the second a p-value" sh -c 'test "$(grep -c "; mean .* ± .*; p = 0\.[0-9]*$" out)" = 4'
score --hypothesis hyp --hypothesis worse --reference ref --json >out
check "--json: an object each" sh -c 'test "$(wc -l <out)" = 2 && tail -n 1 out |
    grep -q "\"hypothesis\":\"worse\",\"significance\":{\"bleu\":{\"mean\":.*,\"interval\":.*,\"p\":0\..*\"lines\":\[{\"bleu\":.*},{\"bleu\":.*}\]}$"'
check "and the signature of the test" sh -c 'test "$(grep -c "\"signature\":\"nrefs:1|bs:1000|seed:12345|case:mixed|" out)" = 2'
score --hypothesis hyp --hypothesis worse --reference ref --significance randomization --trials 20 >out 2>err
check "of randomization, too" sh -c 'test "$(grep -c "|nrefs:1|ar:20|seed:12345|case:" out)" = 8 && test ! -s err'
cp hyp copy
score --hypothesis hyp --hypothesis worse --hypothesis copy --reference ref >out 2>err
check "two systems that are the same" sh -c 'echo "translate: copy and hyp are the same line by line" | cmp - err'
tr a-z A-Z <hyp >capitals
for test in bootstrap randomization; do
    score --hypothesis hyp --hypothesis capitals --reference ref --significance $test --trials 20 >out
    check "$test of TER, equal on every line in capitals: no p" sh -c 'test $(grep -c "p = " out) -eq 3 && ! grep "^TER" out | grep "p = "'
done
score --hypothesis hyp --hypothesis worse --reference ref --significance none >out
check "--significance none" sh -c '! grep -q "mean\|bs:" out'
score --hypothesis hyp --reference ref --significance bootstrap --trials 50 >out
check "an interval of one system" grep -q '^TER.* = .*; mean .* ± [0-9.]*$' out
printf 'a b c d e\n\nf g h i j k\nl\n' >documents
score --hypothesis documents --reference documents --documents --json >out
check "--documents: empty lines end them" grep -q '"documents":\[{"bleu":100,[^{]*},{"bleu":100,[^{]*}\]}$' out
wrong "systems of different length" 1 "line 2 is missing in 1 of the 2 files" \
    score --hypothesis hyp --hypothesis short --reference ref
wrong "--significance of one translation" 2 "--significance goes with --hypothesis" \
    score --significance bootstrap --reference ref x
files="--hypothesis hyp --reference ref"
for option in --show "--beam 2" "--terms ref" "--split never" "--page a.html"; do
    # shellcheck disable=SC2086
    wrong "$option beside files" 2 "scores files of translations without a model: leave out ${option%% *}" score $files $option
done
for option in "--beam 2" --int8 "--bare --attention a.png"; do
    # shellcheck disable=SC2086
    wrong "$option beside numbers" 2 "needs no text and no model: leave out ${option%% *}" score --by-hand hyp $option
done
for alone in "" "--significance none"; do
    # shellcheck disable=SC2086
    wrong "--trials without a test $alone" 2 "--trials draws for a test" score $files --trials 5 $alone
    # shellcheck disable=SC2086
    wrong "--documents without use $alone" 2 "--documents goes with --json" score $files --documents $alone
done
wrong "one file cannot swap lines" 2 "compares several --hypothesis" score $files --significance randomization

# ---- tokenizations ----
printf '我喜欢猫。\n他走了。\n' >zh
printf '我很喜欢猫。\n他走了。\n' >zh.ref
score --hypothesis zh --reference zh.ref >out 2>err
check "BLEU of words in Chinese is warned of" grep -q "hardly any spaces.*--bleu-tokenize zh for Chinese" err
score --hypothesis zh --reference zh.ref --bleu-tokenize zh >out 2>err
check "--bleu-tokenize zh" sh -c 'grep -q "tok:zh|.*hyp_len = 9 ref_len = 10" out && test ! -s err'
printf 'Save\nOpen\nCancel\n' >words
score --hypothesis words --reference words >out 2>err
check "lines of a word are no Chinese" sh -c '! grep -q zh err && grep -q "no line has four words, which BLEU counts.*chrF2" err'
printf 'ฉันไปตลาด เพื่อซื้อผัก\nเขาบอกว่า ฝนจะตก\nဝယ်တယ် iPhone 15 ကို\n' >thai
score --hypothesis thai --reference thai >out 2>err
check "Thai has spaces between clauses, and around other words" grep -q "references have hardly any spaces.*char for others" err
printf '我 去 市场 买 菜 。\n' >segmented
score --hypothesis segmented --reference segmented >out 2>err
check "Chinese that is segmented is scored by its words" test ! -s err
printf 'u v w\n' >strange && score --hypothesis strange --reference short >out 2>err
check "no word in common is warned of" grep -q "no word of the translations is in their references" err
wrong "spm needs a model" 2 "--bleu-tokenize spm and --bleu-model FILE go together" \
    score --hypothesis hyp --reference ref --bleu-tokenize spm
wrong "and a good one" 1 "^translate: 'hyp' is no SentencePiece model" score --hypothesis hyp --reference ref --bleu-tokenize spm --bleu-model hyp
wrong "a model for nothing" 2 "needs a --model for --bleu-tokenize spm only: leave it out" score --hypothesis hyp --reference ref --model hyp
printf 'LE CHAT\n' >cat.ref
echo "the cat" | score --model "$here/data/toy/model.safetensors" --reference cat.ref --bleu-tokenize spm >out 2>err
check "or that of --model" grep -q 'tok:spm|' err
sed 's/$/ le chat/' cat.ref >chats
"$BIN/translate" --model "$here/data/toy/model.safetensors" --reference chats --bleu-tokenize spm 2>translated <chats >out
score --model "$here/data/toy/model.safetensors" --hypothesis out --reference chats --bleu-tokenize spm >scored
check "also of files" sh -c 'grep "|nrefs:1|" translated | cmp - scored'
if score --hypothesis zh --reference zh.ref --bleu-tokenize ja-mecab >out 2>err; then
    check "ja-mecab" grep -q 'tok:ja-mecab-0.*-IPA|' out
else
    check "without MeCab ja-mecab says what to install" grep -q "need MeCab (libmecab.so.2) and .*mecab-ipadic-utf8" err
fi
