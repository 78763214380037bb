#!/bin/sh
# report.sh -- what ./train says of a corpus before it trains: what it read, what it left out and
# where, what is unlikely to go well, and with --dry-run how long it will take.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh

language 400 60
tiny="$tiny --dry-run --output run"
dry() { "$latest" "$BIN/train" $tiny "$@" >out 2>err; }
# says NAME PATTERN: a line of the report.
says() { if grep -q -- "$2" err; then pass "$1"; else fail "$1" "$(cat err)"; fi; }

# Pairs 5 and 7 lack a side, 9 lacks both, 11 is too long.
awk 'NR == 5 || NR == 9 { print ""; next } NR == 11 { for (i = 0; i < 25; i++) printf "one "; print ""; next } 1' train.s >holes.s
awk 'NR == 7 { print "  "; next } NR == 9 { print ""; next } 1' train.t >holes.t
dry --train-source holes.s --train-target holes.t --valid-source valid.s --valid-target valid.t
check "a dry run ends well" test $? -eq 0
check "and writes nothing" test ! -e run
says "pairs that were read and kept" "^training *396 pairs of 400 that were read, [0-9]* source + [0-9]* target tokens$"
says "an empty source, with its line" "skipped *1 pair: the source line is empty (line 5)"
says "an empty target, with its line" "skipped *1 pair: the target line is empty (line 7)"
says "both empty, with the line" "skipped *1 pair: both lines are empty (line 9)"
says "too long, with the line" "skipped *1 pair: longer than --max-length (line 11)"
says "unknown tokens of each side" "^  unknown *0.00 % of the source tokens, 0.00 % of the target tokens"
says "validation" "^validation *60 pairs, "
says "vocabulary" "^vocabulary *[0-9]* tokens (word)"
says "parameters" "^model *0.0[0-9] million parameters"
says "memory" "^memory *[0-9]* MB"
says "disk" "^disk *[0-9.]* MB"
says "updates and their time" "^updates *[0-9]* an epoch; [0-9.e-]* s each, and [0-9.e-]* s more for validation$"
says "validation sentences that were trained on" "^warning *[0-9]* of 60 source sentences of the validation are in the training text"

# Several files, of all kinds.
gzip -c train.s >train.s.gz
paste train.s train.t | sed '3s/.*/	/' >more.tsv
paste valid.s valid.t >valid.tsv
dry --train-source holes.s --train-target holes.t --train-source train.s.gz --train-target train.t \
    --train-tsv more.tsv --valid-tsv valid.tsv
check "several files" test $? -eq 0
says "several files: all pairs" "^training *1195 pairs of 1200 that were read"
says "several files: which one" "both lines are empty (lines holes.s:9, more.tsv:3)"
says "several files: validation" "^validation *60 pairs, "

"$latest" "$BIN/train" $corpus --weight 2 ${tiny% --dry-run*} --max-updates 1 --quiet --output named 2>err
"$BIN/train" --config named/config.json --train-tsv more.tsv --dry-run --output run 2>err
says "a corpus replaces that of --config" "^training *399 pairs of 400 that were read"
says "but not its validation files" "^validation *60 pairs, "

dry --train-tsv more.tsv --valid-split 40
says "held out" "^  held out *40 pairs"
says "held out: the rest" "^training *35[0-9] pairs of 400 that were read"
wrong "held out beside validation files" 2 "^train: --valid-split holds out .*, and here are some: leave it out$" \
    "$BIN/train" --train-tsv more.tsv --valid-tsv more.tsv --valid-split 40 --dry-run
printf 'other words\n%.0s' 1 2 3 4 5 6 7 8 9 10 >other.s
dry --train-source train.s --train-target train.t --valid-source other.s --valid-target other.s
says "unknown tokens of the validation text" "^  unknown *100.00 % of the source tokens"
head -n 40 train.s >few.s && head -n 40 train.t >few.t
dry --train-source few.s --train-target few.t --vocab-size 14 --d-model 128 --ffn 512 --valid-split 4
says "a model that is too large" "^warning *the corpus has 0.0[0-9]* tokens a parameter"
says "a vocabulary that is too small" "^warning *[0-9.]* % of the target tokens are unknown"

# The time of a run is that of its updates. seconds: of the line "time".
seconds() {
    sed -n "s/^time  *$1 \([0-9hms]*\) for $2 updates, an estimate\$/\1/p" err | tr hms '   ' |
        awk -v unit="$(sed -n 's/^time.* about [0-9]*\([hms]\).*/\1/p' err)" '{
            print unit == "h" ? 3600 * $1 + 60 * $2 : unit == "m" ? 60 * $1 + $2 : $1 }'
}
each() { sed -n 's/^updates .*; \([0-9.e-]*\) s each, and \([0-9.e-]*\) s more .*/\1 \2/p' err | awk '{ print $1 + $2 }'; }
near() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > 0.9 * b && b > 0.9 * a) }'; }
dry $corpus --max-updates 200000 --patience 0
check "the time that the run will take" near "$(seconds about 200,000)" "$(each | awk '{ print 200000 * $1 }')"
dry $corpus --max-updates 0 --max-epochs 9000 --patience 3
count=$(sed -n 's/^updates *\([0-9]*\) an.*/\1/p' err)
check "of epochs, and at most" near "$(seconds 'at most about' "[0-9,]*")" "$(each | awk -v n="$count" '{ print 9000 * n * $1 }')"
dry $corpus --max-updates 0
says "without an end" "^time .* for $count updates, an estimate; --max-updates and --max-epochs limit a run$"
part() { awk '/^updates/ { print $9 }' err; }
seldom=$(part)
dry $corpus --max-updates 0 --valid-every 1
check "more validations take more time" awk -v seldom="$seldom" -v often="$(part)" 'BEGIN { exit !(often > 3 * seldom) }'
"$latest" "$BIN/train" $corpus $(echo $tiny | sed 's/--dry-run//') --max-updates 20 --quiet
before=$(cat run/* | cksum)
dry $corpus --max-updates 30
says "of a run that goes on" "^time .* for 10 updates"
check "which the dry run does not touch" test "$(cat run/* | cksum)" = "$before"
dry $corpus --max-updates 20
says "of one that has ended" "^time .*about 0s for 0 updates"

# ---- presets, warm-up and samples ----
plain() { "$latest" "$BIN/train" $corpus --preset tiny --dry-run --output p "$@" 2>err; }
(cd "$here" && "$latest" "$BIN/train" --dry-run --output "$scratch/toy") 2>err
says "the built-in corpus" "^preset  *toy (default for the built-in corpus)$"
(cd "$here" && "$latest" "$BIN/train" --preset toy --valid-source "$scratch/valid.s" --valid-target "$scratch/valid.t" \
    --normalization identity --d-model 16 --ffn 16 --dry-run --output "$scratch/toy") 2>err
says "with a validation text of one's own" "^validation *60 pairs, "
plain --max-updates 200
says "a run that ends within the warm-up" \
    "^warning .* ends after update 200, within the warm-up of 2000: .* does not reach 0.005; try --warmup 21 "
plain --max-updates 200 --warmup 20
check "a shorter warm-up" sh -c '! grep -q "warm-up" err'
plain --max-updates 200 --warmup 200
check "the rate reaches its peak in the last update" sh -c '! grep -q "warm-up" err'
plain --max-epochs 1
says "a run that ends there after its epochs" "^warning .* ends after update [0-9]*, within the warm-up of 2000"
"$latest" "$BIN/train" --help >help
check "the help has the defaults of tiny" grep -q '^ *default 0.005)$' help
check "and a table of all" grep -Eq "^  learning-rate +0.003 +0.005 +0.002 +0.0007$" help
"$latest" "$BIN/train" $corpus $(echo $tiny | sed 's/--dry-run//') --max-updates 2 --max-length 200 --valid-every 1 --output s 2>err
check "samples are cut at 100 columns" awk '
    /→ .*…$/ { cut++; sub(/→/, "x"); sub(/…/, "x"); if (length($0) != 100) bad = 1 } END { exit bad || !cut }' err

head -n 2 valid.s | sed 's/^/    /' >two.s
"$latest" "$BIN/train" $corpus $(echo $tiny | sed 's/--dry-run//') --max-updates 1 --valid-translations 2 --output two 2>err
check "two samples of two translations" test "$(grep -xFf two.s err)" = "$(cat two.s)"

# ---- a corpus that is not what it should be ----
rm -rf run
dry --train-source train.s --train-target train.s --valid-source valid.s --valid-target valid.t
says "the same text on both sides" "^train: source and target are the same text in all 400 pairs of train.s: "
dry --train-source train.s --train-target train.s --valid-source valid.s --valid-target valid.t --force
says "is trained on with --force" "^warning  *400 of 400 pairs (the first: line 1 of train.s) have the same text on both sides"
sed 90d train.t >late.t && echo >>late.t
dry --train-source train.s --train-target late.t --valid-source valid.s --valid-target valid.t
says "a lost line" "^train: from about line [0-9]* of train.s on, the sentences go together with the translations 1 line before: "
dry --train-source train.s --train-target train.t --valid-source train.s --valid-target late.t
says "a lost line of the validation text" "^train: from about line [0-9]* of train.s on, the sentences go together with"
sort train.t >sorted.t
dry --train-source train.s --train-target sorted.t
says "a side that is sorted" "^train: from about line 1 of train.s on, the lengths of the sentences have nothing to do with those"
dry $corpus --train-source valid.t --train-target valid.s
says "a second file with its sides in the wrong order" "^warning  *valid.t looks as if its source and its target were in another order than those of train.s"
{ paste train.s train.t && paste train.t train.s; } >turned.tsv
dry --train-tsv turned.tsv --valid-source valid.s --valid-target valid.t
says "a file with its sides in both orders" "^warning  *the second half of turned.tsv looks as if its source and its target were in another order"
{ echo '<tmx><header srclang="en"/><body>' && paste train.s train.t | sed 's|\(.*\)\t\(.*\)|<tu><tuv xml:lang="en-US"><seg>\1</seg></tuv><tuv xml:lang="de"><seg>Ja</seg></tuv><tuv xml:lang="fr"><seg>\2</seg></tuv></tu>|' && echo '</body></tmx>'; } >three.tmx
dry --train-tsv three.tmx --columns fr,en
says "the languages of a TMX, by name" "^  columns  *source fr, target en, of en, de, fr (--columns names others)$"
dry --train-tsv three.tmx --columns 1,en
says "a number and a language are no columns" "^train: --columns takes the numbers of two columns, .*, or two languages of a TMX, "
awk '{ print 1000 + NR "\ten\t" $0 }' train.s >numbered.tsv
dry --train-tsv numbered.tsv
says "numbers in the first column" "^train: column 1 of numbered.tsv is a number.*: pick the columns (--columns) (--force"
paste train.s train.t >pairs.tsv
awk '{ print "https://a.org/" NR "\t1.25\t" $0 }' pairs.tsv >crawled.tsv
dry --train-tsv crawled.tsv --columns 1,3
says "addresses" "^train: column 1 of crawled.tsv is a number or an address in nearly all lines,.* such as --columns 3,4 (--force"
mkfifo pipe
cat numbered.tsv >pipe &
dry --train-tsv pipe
says "and of a pipe, which cannot be read again" "^train: column 1 of pipe is a number or an address in nearly all lines"
dry --train-tsv crawled.tsv --columns 3,2
says "a score in the place of the translation" "^train: column 2 of crawled.tsv is a number or an address in nearly all lines"
dry --train-tsv pairs.tsv --train-tsv numbered.tsv
says "each file by itself" "^train: column 1 of numbered.tsv is a number"
awk '{ print NR * 37 % 401 "\t" $0 }' train.s >digits.tsv
dry --train-tsv digits.tsv
says "but numbers may be the source, where there is no other" "^warning  *400 of 400 pairs (the first: line 1 of digits.tsv) have a number or an address as the source"
"$BIN/train" --preset tiny --vocab-size 100 --quiet --train-tsv digits.tsv --max-updates 1 --threads 1 --output numbers >out 2>err
"$BIN/translate" --quiet --model numbers --json --max-tokens 3 "12" "" >out
check "which are translated then" grep -q '"line":1,.*"tokens":\["' out
check "but not an empty line" grep -q '"line":2,.*"text":""' out
"$BIN/translate" --quiet --model numbers --max-tokens 3 --explain "12 37 8" >out
check "and none of them is protected" sh -c '! grep -q "<ph" out'
cut -f 1 digits.tsv >digits
dry --train-source train.s --train-target digits --valid-source valid.t --valid-target valid.s
says "or the target" "^warning  *400 of 400 pairs (the first: line 1 of train.s) have a number or an address as the translation"
says "sides in the wrong order" "^warning  *the validation text does not look like the training text"
sed 's/^/en\tfr\t/' pairs.tsv >named.tsv
dry --train-tsv named.tsv
says "a name of the language" "^train: column 1 of named.tsv is 'en' in nearly all lines,.* such as --columns 3,4 (--force"
sed 's/.*/no/' train.t >no.t
dry --train-source train.s --train-target no.t
says "a file that repeats a word" "^train: no.t is 'no' in nearly all lines, .* is it the right file?"
cat pairs.tsv pairs.tsv >copies.tsv
dry --train-tsv copies.tsv
says "copies" "^warning  *[4-9][0-9][0-9] of 800 pairs (the first: line [0-9]* of copies.tsv) are copies of earlier ones"
sed 's/\(.*\)\t\(.*\)/"\1","\2"/' pairs.tsv >pairs.csv
for table in pairs.tsv pairs.csv; do
    dry --train-source $table --train-target train.t
    says "a table as the source: $table" "^train: $table is a table, with a TAB or \",\" in 400 of 400 lines: give it alone, as --train-tsv or --valid-tsv"
done
dry --train-source train.s --train-target train.t --valid-source train.s --valid-target pairs.tsv
says "a table as the validation's target" "^train: pairs.tsv is a table, with a TAB"
sed 's/.*/"& ""no"""/' train.s >q.s && sed 's/.*/"&"/' train.t >q.t
dry --train-source q.s --train-target q.t --valid-source q.s --valid-target q.t
says "quotation marks of a spreadsheet" "^warning  *400 of 400 pairs (the first: line 1 of q.s) are in quotation marks, as spreadsheets"
check "once for each text" sh -c 'test $(grep -c "quotation marks" err) = 2'
undo() { sed -n "s/.*\(\(python3\|perl\) .*\) <OLD >NEW.*/\1/p" err | tail -1 >undo.sh; sh undo.sh; }
paste q.s train.t >half.tsv
paste train.s train.t >plain.tsv
sed '8~8{s/\t/ ""no"" &/; s/^/"/; s/ \t/"\t/}' plain.tsv >excel.tsv
dry --train-tsv half.tsv --valid-tsv excel.tsv
says "of one side" "^warning  *400 of 400 pairs (the first: line 1 of half.tsv) are in quotation marks, as spreadsheets"
says "of validation text" "^warning  *50 of 400 pairs (the first: line 8 of excel.tsv) are in quotation marks"
undo <excel.tsv >undone.tsv
check "which its command undoes" sh -c 'sed "s/ \"no\"//" undone.tsv | cmp - plain.tsv'
sed '5s/^/"/; 9s/\t/&"/' excel.tsv | undo >undone.tsv
check "and joins no lines where a mark has no partner" sh -c 'sed "s/ \"no\"//; 5s/^.//; 9s/\t./\t/" undone.tsv | cmp - plain.tsv'
sed '8~8s/^[^\t]*/"Sir, &"/' plain.tsv >commas.tsv
dry --train-tsv commas.tsv
says "those of a spreadsheet that quotes what has a comma" "^warning  *50 of 400 pairs (the first: line 8 of commas.tsv) are in quotation marks"
sed '8~8s/^[^\t]*/Sir, &/; 16~16s/^[^\t]*/"&"/' plain.tsv >speech.tsv
dry --train-tsv speech.tsv
check "not those of direct speech" sh -c '! grep "quotation marks" err'
sed '9~9{s/\t/&"Sir,\n/; s/$/"/}' plain.tsv >excel.tsv
dry --train-tsv excel.tsv
says "a line break in a field" "^train: excel.tsv:10: there is no TAB, but a quotation mark without its partner: "
undo <excel.tsv >undone.tsv
check "which its command joins" sh -c 'sed "s/Sir, //" undone.tsv | cmp - plain.tsv'
sed 's/$/ café “Á” 東京/; 1s/.*/naïve “/' train.s >right.s
{ sed 1q right.s | iconv -f WINDOWS-1252 -t UTF-8
    sed -n 2,200p right.s | iconv -f LATIN1 -t UTF-8; sed -n '201,$p' right.s; } >twice.s
dry --train-source twice.s --train-target train.t --valid-source valid.s --valid-target valid.t --max-length 200 --tokenizer char
says "text that was encoded twice" "^warning  *the text has [0-9]* times UTF-8 that was encoded twice"
undo <twice.s >undone.s
check "which its command undoes, and only this" cmp undone.s right.s
sed 's/$/ it\xc2\x92s 東\xc2\x81/' train.s >controls.s
dry --train-source controls.s --train-target train.t --valid-source valid.s --valid-target valid.t --max-length 200 --tokenizer char
says "WINDOWS-1252 that was read as LATIN1" "^warning  *the text has 800 characters from U+0080 to U+009F"
undo <controls.s >undone.s
check "which its command mends" sh -c 'sed "s/$/ it’s 東/" train.s | cmp - undone.s'
sed '3s/$/ \&apos; x/; 9s/$/ \&#39;/; 10,20s/^/<i>/; 30,40s/$/ x@@ y/' train.s >marks.s
sed '1,20s/.*/a \&amp; b/; 100,249s/.*/to be translated/; 21,99s/$/ ./; 250,$s/$/ ./' train.t >marks.t
dry --train-source marks.s --train-target marks.t --valid-source valid.s --valid-target valid.t
says "entities" "^warning  *20 of 400 pairs (the first: line 1 of marks.s) have entities such as &amp;"
says "tags" "^warning  *11 of 400 pairs (the first: line 10 of marks.s) have tags"
says "subwords" "^warning  *11 of 400 pairs (the first: line 30 of marks.s) have the marks of subwords"
says "tokenised text" "^warning  *230 of 400 pairs (the first: line 21 of marks.s) are tokenised"
says "the same translation" "^warning  *150 of the translations are the same, 'to be translated', which teaches nothing"
dry --train-source train.s --train-target train.t --valid-source valid.s --valid-target valid.t
check "no warning without a reason" sh -c '! grep -E "does not look|marks|tokenised|tags|entities|both sides" err'

# ---- characters, and a model that learns nothing ----
tiny=${tiny% --dry-run --output run}
sed '5s/$/ ѣ/; 7,16s/$/ ﬁx/; 20,26s/$/ soft\xc2\xadly/' train.s >strange.s
bpe() { "$latest" "$BIN/train" $(echo $corpus | sed s/train[.]s/strange.s/) $tiny --tokenizer bpe --vocab-size 80 --dry-run "$@" 2>err; }
bpe --character-coverage 0.9999 --normalization text
says "characters that the normalisation changes" "^  normalised  ﬁ U+FB01 → fi (10), .*U+00AD → nothing (7)$"
"$latest" "$BIN/train" $corpus $tiny --tokenizer bpe --vocab-size 80 --max-updates 1 --quiet --output old
bpe --init old
says "characters without a token" "^  lost  .*ѣ U+0463 (1): the vocabulary has no token for them; --extend-vocabulary N adds them$"
"$latest" "$BIN/train" $corpus $tiny --learning-rate 1 --max-updates 30 --valid-every 10 --schedule constant --output none 2>err
says "a model that learns nothing" "^warning .* after the warm-up; if the next validation says so too, try a --learning-rate below 1, "
"$latest" "$BIN/train" $corpus $tiny --normalization text --max-updates 200 --valid-every 100 --output well 2>err
check "no such warning when it learns" sh -c '! grep "after the warm-up;" err'

# ---- references that the model writes otherwise ----
exact() {
    "$latest" "$BIN/train" $(echo $corpus | sed "s/valid[.]t/$1/") $tiny --normalization text --init well --learning-rate 1e-8 --max-updates 1 \
        --valid-every 1 --output "from-$1" 2>&1 | sed -n 's/ translations exact.*BLEU/, BLEU/p' | head -n 1
}
perl -CSD -pe 'tr/A-Z/\x{ff21}-\x{ff3a}/; s/$/  /' valid.t >wide.t
wanted=$(exact valid.t)
check "the validation compares in the model's normal form" test "$(exact wide.t)" = "$wanted" -a -n "$wanted"
"$BIN/translate" --model well --beam 1 --reference wide.t <valid.s >out 2>err
says "--reference says that they are others" "warning: 60 of 60 references have words that the model's normalisation writes otherwise"
"$BIN/translate" --model well --beam 1 --reference valid.t <valid.s >out 2>err
check "and only then" sh -c '! grep normalisation err'

# ---- lines of less than four words ----
echo "the keys" >key.s && echo "les clés" >key.t
"$BIN/train" --init "$here/data/toy/model.safetensors" --train-source "$here/data/toy/valid.en" --train-target "$here/data/toy/valid.fr" \
    --valid-source key.s --valid-target key.t --preset tiny --learning-rate 1e-8 --max-updates 1 --valid-every 1 --best bleu --output short 2>err
says "BLEU is 0 because no line has four words" "1 of 1 translations exact.* BLEU 0.00, .*: no line has four words.*use --best chrf$"
