#!/bin/sh
# texts.sh -- what people paste comes back whole: layout, several sentences and lines, capitals, protected spans. With the
# model of data/toy, whose words are in lower case.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh

translate() { "$BIN/translate" --quiet --model "$here/data/toy/model.safetensors" "$@"; }
# gives NAME EXPECTED OPTION...: translates the file `text` to the file `EXPECTED`.
gives() {
    name=$1 expected=$2
    shift 2
    translate "$@" <text >out 2>err
    check "$name" cmp out "$expected"
}
one=$(translate "jane visits africa") two=$(translate "my sister does not see the red car")

# ---- layout ----
printf '%s\n' '- jane visits africa' '    2. my sister does not see the red car' '' '# jane visits africa' '> * jane visits africa  ' '---' '' >text
printf '%s\n' "- $one" "    2. $two" '' "# $one" "> * $one  " '---' '' >lines
gives "bullets, numbers, headings, quotations, indentation, empty lines" lines
printf '%s\n' '<p>jane visits africa</p><p>my sister does not see the red car<br/>jane visits africa' 'jane visits africa\n- my sister does not see the red car' >text
printf '%s\n' "<p>$one</p><p>$two<br/>$one" "$one\\n- $two" >lines
gives "tags of paragraphs and the like, and line breaks as two characters" lines
printf '\t jane visits africa \t\n' >text && printf '\t %s \t\n' "$one" >tabs
gives "white space at both ends" tabs
printf '%s\n' - ... '***' 7 '00:01:02,500 --> 00:01:04,000' '?' '🙂' '  ' '12.50 €' >text
gives "what has no letters stays as it is" text
"$BIN/translate" --model "$here/data/toy/model.safetensors" "the boy sees 7 cars and 9 houses , and 7 cats" >out 2>err
check "single digits that are lost are named, each once" grep -qE "line 1: its translation has no 7, 9( and|$)" err
printf '1\r\n00:00:01,000 --> 00:00:02,500\r\n<i>jane visits africa</i>\r\n\r\n2\r\n00:00:03,000 --> 00:00:04,500\r\n- my sister does not see the red car\r\n' >text
printf '1\r\n00:00:01,000 --> 00:00:02,500\r\n<i>%s</i>\r\n\r\n2\r\n00:00:03,000 --> 00:00:04,500\r\n- %s\r\n' "$one" "$two" >subtitles
gives "subtitles with CR LF" subtitles
{ printf '\357\273\277'; cat text; } >bom && mv bom text
{ printf '\357\273\277'; cat subtitles; } >bom
gives "and a byte order mark" bom

# ---- several lines and sentences ----
translate "jane visits africa

my sister does not see the red car" >out
printf '%s\n\n%s\n' "$one" "$two" >lines
check "a TEXT of several lines" cmp out lines
translate --n-best 2 "	jane visits africa" >out
check "--n-best keeps a TAB" test "$(grep -c '^1 ||| 	jane' out)" = 2
printf 'Jane visits africa. My sister does not see the red car! Jane visits africa? ok\n' >text
translate --split always --json <text >always
translate --split never --json <text >never
check "--split always has an object for each sentence" sh -c 'test "$(grep -o "\"source\":\[[0-9]*,[0-9]*\]" always | wc -l)" = 4'
check "--split never has one sentence" sh -c '! grep -q "\"source\"" never'
check "with its characters" grep -q '"sentences":\[{"source":\[0,18\],"target":\[0,' always
printf 'été. Jane visits africa.\n' | translate --split always --json >out
check "which are not bytes" grep -q '"source":\[5,23\],"target":\[[0-9]*,' out
check "auto splits three sentences" sh -c 'test "$(grep -c "" always)" = 1' && translate --json <text >out
check "as always does" cmp out always
printf '%s\n' "paul visite l'afrique" "ma sœur ne voit pas la voiture noire" "$one" >lines
translate --prefix "paul visite l'afrique
ma sœur ne voit pas la voiture noire" "jane visits africa
my sister does not see the red car
jane visits africa" >out
check "--prefix begins a TEXT of several lines" cmp out lines
translate --prefix "jane visite l'afrique. jane voit 30" "jane visits africa 12. jane sees 25 cars and 30 dogs" >out
check "and has no number put into it" grep -q "^jane visite l'afrique\. jane voit 30 .*25" out
printf '%s\n' 'jane visits' 'africa' '' 'my sister does not' 'see the red car' >text
printf '%s\n' "$one" '' "$two" >lines
gives "--wrapped joins the lines of a paragraph" lines --wrapped
printf '%s\n' '# jane visits africa' '> jane vi-' "$(printf '> sits af\302\255')" '> rica' '> > my sister does not' '> > see the red car' '- jane visits' '  africa' '- my sister does not' 'see the red car' '> # jane visits africa' '> jane visits africa' '' '== jane visits africa ==' 'jane visits africa' >text
printf '%s\n' "# $one" "> $one" "> > $two" "- $one" "- $two" "> # $one" "> $one" '' "== $one ==" "$one" >lines
gives "and of quotations, words with a hyphen, too, but no headings" lines --wrapped
printf '%s\n' 'jane visits africa  ' 'my sister does not see the red car' '> > jane visits africa' '> my sister does not' '> see the red car' \
    'jane visits africa | jane visits africa' 'jane visits africa | jane visits africa' >text
printf '%s\n' "$one  " "$two" "> > $one" "> $two" "$one | $one" "$one | $one" >lines
gives "but not what two blanks, another quotation or a row of a table ends" lines --wrapped
printf '%s\n' '> jane vi-' '> sits paris. jane' '> sees a dog.' >text
"$BIN/translate" --model "$here/data/toy/model.safetensors" --wrapped --split always --json <text >out 2>err
check "and the places of sentences are those before" grep -q '"source":\[2,23\],.*"source":\[25,42\],' out
printf '%s\n' '私は' '学生です。' 'Tom と' '行く' >text
"$BIN/translate" --model "$here/data/toy/model.safetensors" --wrapped <text >out 2>err
check "text without spaces is joined without them" grep -q ': 私は学生です, Tom, と行く$' err
printf '%s\n' 'jane visits africa' 'in september' '' 'jane visits' 'xanadu' '' '```' 'a' >text
"$BIN/translate" --model "$here/data/toy/model.safetensors" --wrapped --json <text >out 2>err
check "the number of a paragraph is that of its first line" sh -c 'test "$(sed "s/^{\"line\":\([0-9]*\),.*/\1/" out | tr "\n" " ")" = "1 3 4 6 7 8 " && grep -q "line 4: not in .*: xanadu" err'
printf '%s\n' '```sh {1,3}' 'jane visits' '' 'africa' '~~~' '```' >code
{ echo 'jane visits africa'; cat code; echo '~~~'; echo 'jane visits africa'; echo '~~~'; echo '```so jane visits africa'; } >text
translate '```so jane visits africa' >so
{ echo "$one"; cat code; echo '~~~'; echo 'jane visits africa'; echo '~~~'; cat so; } >lines
gives "a block of code stays as it is" lines
gives "with --wrapped, too" lines --wrapped
translate --json <text >out
check "and with --json" sh -c 'test "$(grep -c "\"tokens\":\[\]" out)" = 9 && grep -q "^{\"line\":3,.*\"text\":\"jane visits\"" out'
{ echo 'jane visits africa'; sed '$d' code; } >text
{ echo "$one"; sed '$d' code; } >lines
"$BIN/translate" --model "$here/data/toy/model.safetensors" <text >out 2>err
check "one that does not end goes to the end" cmp out lines
check "which is said" grep -q '^translate: line 2 begins a block of code that no line ends: .* a line ```$' err
printf '%s\n' --- 'title: jane visits africa' --- 'jane visits africa' '````md' 'jane visits' '```' '````' '> ~~~ sh' '> jane visits' 'my sister does not see the red car' '```' 'jane' >text
sed "2!{s/^jane visits africa/$one/; s/^my sister.*/$two/}" text >lines
gives "a header, and code in a quotation" lines
translate -- "$(cat text)" >out
check "a TEXT has the same blocks" cmp out lines
translate --align -- "- jane visits africa" >out
check "links count the words of the whole line" grep -qx -- "- $one ||| 1-1 2-2 3-3" out

# ---- capitals ----
printf '%s\n' 'JANE VISITS AFRICA' 'Jane Visits Africa' >text
printf '%s\n' "$(echo "$one" | tr a-z A-Z)" "Jane Visite L'afrique" >capitals
gives "capitals and title case come back" capitals
printf '%s\n' 'JANE VISITS AFRICA IN SEPTEMBER at 5pm' >text
translate <text >capitals
translate 'jane visits africa in september at 5pm' | tr a-z A-Z >lower
check "also with a small word" cmp capitals lower
printf '%s\n' 'My Sister Does Not See the Car' >text && translate 'My sister does not see the car' >lower
gives "a headline comes back as a sentence" lower

# In this text "Tom" and "I" are frequent, "tom" and "i" are not; no capital H, E, N, M, O, A, D or R.
awk 'BEGIN { for (i = 0; i < 200; i++) {
    print "Tom met us. Then I met Tom. I go. She ran, so she met me."
    if (i % 20 == 0) print "The big tom cat has an i in it." } }' >names
"$latest" "$BIN/train" $tiny --force --train-source names --train-target names --valid-split 4 --tokenizer bpe --vocab-size 90 --max-length 60 \
    --max-updates 1 --output names-model >/dev/null 2>&1
"$BIN/translate" --quiet --model names-model --json --show --max-tokens 3 --head mean "THEN SHE MET TOM SO I RAN" >out
"$BIN/translate" --quiet --model names-model --json --show --max-tokens 3 --head mean "RAN" >word
check "a short word in capitals is one of small letters" grep -qF '"columns":["▁ran","</s>"]' word
check "names keep their capital" grep -qF '"columns":["▁Then","▁she","▁met","▁Tom","▁so","▁I","▁ran","</s>"]' out

# A text without capitals.
tr A-Z a-z <names >small
"$latest" "$BIN/train" $tiny --force --train-source small --train-target small --valid-split 4 --tokenizer bpe --vocab-size 60 --max-length 60 \
    --max-updates 1 --output small-model >/dev/null 2>&1
"$BIN/translate" --model small-model --json --show --max-tokens 3 --head mean "Then she met Tom." >out 2>err
check "a model without capitals reads none" grep -qF '"columns":["▁then","▁she","▁met","▁tom",".","</s>"]' out

# A model that copies. Of the capitals it knows those of names alone.
awk 'BEGIN { split("Tom Mary Jane Paul Anna", name); split("met saw took hired sold", verb)
    split("cats dogs cars hats maps", thing); for (i = 0; i < 125; i++)
    print name[i % 5 + 1], verb[int(i / 5) % 5 + 1], thing[int(i / 25) + 1] "." }' | tee copies >copies.tr
"$latest" "$BIN/train" $tiny --force --train-source copies --train-target copies.tr --valid-split 4 --tokenizer bpe --vocab-size 70 --max-length 30 \
    --d-model 32 --max-updates 150 --batch-tokens 1000 --warmup 30 --learning-rate 0.01 --schedule cosine --dropout 0 --valid-epochs 50 \
    --output copies-model >/dev/null 2>&1
printf '%s\n' 'Tom MET cats.' 'Mary <b>SAW</b> DOGS.' '(Jane took HATS.)' 'TOM MET CATS.' >text
"$BIN/translate" --quiet --model copies-model <text >out
check "words in capitals come back in capitals" cmp out text
check "no space follows a wide full stop" sh -c "'$BIN/translate' --quiet --model copies-model 'Tom met 東京。 Paul met cats.' | grep -q '。Paul met cats'"
"$BIN/translate" --quiet --model copies-model --split always 'Tom met 東京。[1]Paul met cats.' '<b>Tom met 東京。</b>Paul met cats.' 'Tom met 東京。<b>Paul met cats.</b>' >out
check "but the note or the tags between sentences" test "$(grep -cE '。(\[1\]|</b>) Paul|。 <b>Paul' out)" = 3
check "the capital of i is that of the target language" sh -c "'$BIN/translate' --quiet --model copies-model 'PAUL HIRED DOGS.' | grep -q '^PAUL HİRED DOGS.$'"
check "an unknown abbreviation stays" sh -c "'$BIN/translate' --quiet --model copies-model 'Paul met MJTA.' | grep -q MJTA"

# ---- invisible characters ----
printf '%s\n' '...jane visits africa' 'my sister... does not see the red car…' 'jane visits africa--' '<i>- jane visits africa...</i>' >text
printf '%s\n' "...$one" "ma sœur... ne voit pas la voiture rouge…" "$one--" "<i>- $one...</i>" >lines
gives "unknown ellipses and a dash at the end stay, and a bullet after a tag" lines
printf 'ja\302\255ne vis\342\200\213its africa\nmy sis\342\201\240ter does not see the red car\n' >text
printf '%s\n' "$one" "$two" >lines
gives "soft hyphens, zero-width spaces and word joiners are dropped" lines

printf '%s\n' '“jane visits africa”' '« my sister does not see the red car »' '(jane visits africa.)' '"jane visits africa"' \
    "'jane visits africa'" '[jane visits africa]' >text
printf '%s\n' "“$one”" "« $two »" "($one.)" "\"$one\"" "'$one'" "[$one]" >lines
gives "brackets and quotation marks around a sentence stay" lines
translate '“jane visits ‘africa’' >out
check "but two of different kinds are no pair" grep -q '^[^“]*$' out

# ---- spans ----
for span in '{name}' '%1$s' 'https://example.org/a?b=c' '`x = 1`' 1987 '&amp;' '😀'; do
    translate "jane visits $span in september" >out
    check "$span is in the translation" grep -qF -- "$span" out
done
printf '%s\n' '[1] jane visits africa' '{\i1}jane visits africa{\i0}' '<0>jane visits africa</0>' >text
printf '%s\n' "[1] $one" "{\\i1}$one{\\i0}" "<0>$one</0>" >marked
gives "marks around a sentence" marked
translate --json "jane visits africa 😀" >out
check "an emoji at the end stays there" grep -qF "\"text\":\"$one 😀\"" out
printf '%s\n' 'jane 😀 visits africa' 'the cat sees <b>the</b> dog' '<i>jane</i> visits africa' >text
translate <text >out
translate "jane visits africa" "the cat sees the dog" "jane visits africa" >plain
check "tags and emoji change no word" sh -c 'sed "s/😀 //; s/<[^<>]*>//g" out | cmp - plain'
check "and stand beside their words" sh -c 'sed -n 1p out | grep -q "^jane 😀 " && sed -n 3p out | grep -q "^<i>jane</i> "'
check "links count them as words" test "$(translate --align "jane 😀 visits africa")" = "jane 😀 visite l'afrique ||| 0-0 1-1 2-2 3-3"
"$BIN/translate" --model "$here/data/toy/model.safetensors" "my sister does not see the <i>red car</i>" >out 2>err
check "a tag opens before it is closed, where words change places" grep -qx "ma sœur ne voit pas la <i>voiture rouge</i>" out
printf '%s\n' 'my sister does not see the <b><i>red</i> car</b>' '<a href="x">my <b>sister</b></a> does not see the <b>red</b> <i>car</i>' \
    'my <b>sister <u><i>does not</i> see</u></b> the red car' 'my <b>sister</b> does not <i>see the</i> red<img/><u></u> car' >text
translate <text >out
printf '%s\n' 'ma sœur ne voit pas la <b>voiture <i>rouge</i></b>' '<a href="x">ma <b>sœur</b></a> ne voit pas la <i>voiture</i> <b>rouge</b>' \
    'ma <b>sœur <u><i>ne</i> voit</u></b> pas la voiture rouge' 'ma <b>sœur</b> ne <i>voit pas la</i> voiture rouge<img/><u></u>' >right
check "tags stay nested" cmp out right
translate "my sister does not see [the red car](https://a.org/b_(c) \"x\")" >out
check "links enclose their words" grep -qxF "ma sœur ne voit pas [la voiture rouge](https://a.org/b_(c) \"x\")" out
translate --protect 'ki[a-z]+ali' "jane visits kigali in september" >out
check "--protect" grep -q kigali out
translate --protect "foo " "A dog is foo 😀" >out 2>err
check "--protect, a match with a blank at its end" grep -q "foo  *😀" out
wrong "a wrong regular expression" 1 "'(a'" translate --protect '(a' one
printf 'africa\tKenia\n' >terms
translate --terms terms "jane visits africa in september" >out
check "--terms" grep -q Kenia out
printf 'africa\t\n' >terms
translate --terms terms --json "jane visits africa" >out
check "a term without a translation is not missing" grep -q '"missing":\[\]' out
translate "jane visits [[africa]] in september" >out
check "[[…]] marks what stays" sh -c 'grep -q " africa" out && ! grep -q "[[]" out'

# ---- what the toy's checkpoint says of its training text: one sentence a line, without full stops ----
"$BIN/translate" --model "$here/data/toy/model.safetensors" "Jane visits Africa. My sister sees the red car." "my brother visits xanadu" >out 2>err
check "two sentences are translated one by one, and keep their full stops" grep -qx "jane visite l'afrique. ma sœur voit la voiture rouge." out
lre=$(printf '\342\200\252') pop=$(printf '\342\200\254') # U+202A and U+202C
"$BIN/translate" --model "$here/data/toy/model.safetensors" "my sister ${lre}sees$pop the red car" >left 2>&1
check "marks of direction are no part of a word" grep -qx "ma sœur voit la voiture rouge" left
check "only what is doubtful is named so" sh -c 'test "$(grep -c "low score" err)" = 1 && grep -q "check line 2: .* low score" err'

# ---- what is probably wrong ----
long=$(yes jane visits africa | head -n 60 | tr '\n' ' ')
"$BIN/translate" --model "$here/data/toy/model.safetensors" --json "$long" >out 2>err
check "a text that is cut, in JSON" grep -q '"cut":180,' out
check "and what to do about it" grep -q "^translate: .* 180 tokens without the end of a sentence; only the first [0-9]* .*: make shorter sentences of it$" err
translate --json --max-tokens 2 "jane visits africa" >out
check "a translation that the limit ended" grep -q '"limit":true' out
"$BIN/translate" --model "$here/data/toy/model.safetensors" --json --min-score -0.0001 "jane visits africa" >out 2>err
check "a doubtful one" grep -q '"doubtful":true' out
check "is named" grep -qx "translate: check line 1: its translation has a low score (-0.0[0-9])" err
"$BIN/translate" --model "$here/data/toy/model.safetensors" --beam 1 --min-score -0.0001 "jane visits africa" >out 2>err
check "by greedy search, too" grep -q "has a low score (-0.0[0-9])" err
"$BIN/translate" --model "$here/data/toy/model.safetensors" --json --given "jane a 12 chats" "jane has 13 cats, {name}" >out 2>err
check "what a given translation lacks, in JSON" grep -qF '"missing":["13","{name}"]' out
check "is named, too" grep -qx "translate: check line 1: its translation has no 13, {name} and has a low score (-3.61)" err

# ---- HTML documents ----
printf '<!-- a --><p class=x>jane visits africa</p>\n<pre>jane visits africa</pre><br>' >text
printf '<!-- a --><p class=x>%s</p>\n<pre>jane visits africa</pre><br>' "$one" >document
gives "an HTML document" document --html
translate --html "<p>jane visits africa</p>" "7" >out
check "texts that are HTML" test "$(cat out)" = "<p>$one</p>
7"
"$BIN/translate" --model "$here/data/toy/model.safetensors" --html "<p>jane</p><p>$long</p>" >out 2>err
check "a block that is cut" grep -q "^translate: block 2 has 180 tokens without the end of a sentence" err
printf '<p>a\377' >bad
wrong "HTML that is not UTF-8" 1 "standard input is not valid UTF-8 (byte 5)" sh -c "'$BIN/translate' --model $here/data/toy/model.safetensors --html <bad"
printf '<p>a\0b' >bad
wrong "HTML with a NUL byte" 1 "standard input has a NUL byte in it" sh -c "'$BIN/translate' --model $here/data/toy/model.safetensors --html <bad"
