#!/bin/sh
# corpora.sh -- scripts/get-corpus against a mirror on this disk: what it fetches, checks, prepares,
# and what it leaves behind when something is wrong, which is nothing.
cd "$(dirname "$0")/../.." || exit 1
. tests/fixtures/checks.sh

# The script with the sums of the mirror's files.
mkdir scripts mirror
cp "$here/scripts/get-corpus" "$here/scripts/options.sh" scripts
CORPUS_MIRROR=$scratch/mirror
export CORPUS_MIRROR
get() { scripts/get-corpus "$@" >out 2>err; }

# fails NAME STATUS PATTERN ARGUMENT...: one sentence with the pattern, and nothing is left.
fails() {
    name=$1 status=$2 pattern=$3
    shift 3
    get "$@"
    got=$?
    if [ $got -ne "$status" ]; then fail "$name" "exit status $got, not $status: $(cat err)"
    elif [ "$(wc -l <err)" -ne 1 ] || ! grep -q "$pattern" err; then fail "$name" "said: $(cat err)"
    elif [ -e new ] || ls new.part.* >/dev/null 2>&1; then fail "$name" "left: $(ls -d new*)"
    else pass "$name"; fi
}

# ---- multi30k ----
task=mirror/raw.githubusercontent.com/multi30k/dataset/a3d2e0d26b56f3846f66a952536ffed4e401d05a/data/task1
mkdir -p $task/raw $task/tok
for lang in en de fr; do
    for set in train val test_2016_flickr; do
        printf 'One %s %s.\nTwo.\n' $set $lang >text
        printf '%s  multi30k/%s.%s\n' "$(sha256sum <text | cut -d ' ' -f 1)" $set $lang >>scripts/get-corpus.sums
        gzip <text >$task/raw/$set.$lang.gz
        printf 'one %s %s .\ntwo .\n' $set $lang >$task/tok/$set.lc.norm.tok.$lang
    done
done
get multi30k new
check "multi30k is fetched" test $? -eq 0
check "it says how to go on" grep -q "train --train-source new/train.en.gz" err
check "multi30k: all files are there" sh -c '
    for lang in en de fr; do
        for set in val test_2016_flickr; do
            test -s new/$set.$lang && test -s new/tok/$set.lc.norm.tok.$lang || exit 1
        done
        test -s new/train.$lang.gz && test -s new/tok/train.lc.norm.tok.$lang.gz || exit 1
    done; test -s new/README'
check "multi30k: as published" sh -c '
    test "$(gzip -dc new/train.de.gz | head -n 1)" = "One train de." && test "$(head -n 1 new/val.fr)" = "One val fr."'
check "nothing else is left" sh -c 'test -z "$(ls -d new.part.* 2>/dev/null)"'
mv new old
printf 'Another text.\n' | gzip >$task/raw/val.de.gz
fails "another file than the one that is meant" 1 "multi30k/val.de is not the file" multi30k new
head -c 30 old/train.en.gz >$task/raw/train.en.gz
fails "a file that is cut off" 1 "multi30k/train.en is damaged" multi30k new
rm $task/raw/train.en.gz
fails "a file that is not there" 1 "cannot download .*train.en.gz: .*No such file" multi30k new
: >$task/raw/train.en.gz
fails "an empty file" 1 "train.en.gz: it is empty" multi30k new
CORPUS_MIRROR=file:///nowhere
fails "a server that does not answer" 1 "cannot download file:///nowhere/\|neither curl nor wget" \
    multi30k new
CORPUS_MIRROR=$scratch/mirror

# Interrupted while it waits for a file.
rm $task/raw/train.en.gz && mkfifo $task/raw/train.en.gz
scripts/get-corpus multi30k new >out 2>err &
pid=$!
until ls new.part.* >/dev/null 2>&1; do sleep 0.05; done
kill -TERM $pid
echo >$task/raw/train.en.gz &  # the copying ends, if it had begun
writer=$!
wait $pid
check "interrupted, it leaves nothing" sh -c 'test $0 -ne 0 && test -z "$(ls -d new* 2>/dev/null)"' $?
kill $writer 2>/dev/null

# ---- tatoeba ----
folder=mirror/raw.githubusercontent.com/ObadaZay/nmt/e03a55a351e5221579bdc889b72b6cc3e490cbc9
mkdir -p $folder
awk 'BEGIN {
    for (i = 0; i < 2000; i++) {
        # some English sentences come back in other spelling, some pairs come twice
        english = i % 10 == 3 ? "it is number " i - 1 " !" : "It is number " i "."
        printf "%s\t%s\tCC-BY 2.0 tatoeba.org #%d\n", english, "\330\261\331\202\331\205 " i, i
        if (i % 50 == 0) printf "%s\t%s\tCC-BY 2.0 tatoeba.org #%d\n", english, "\330\261\331\202\331\205 " i, i + 5000
    }
}' >$folder/ara.txt
get tatoeba en-ar new
check "tatoeba is fetched" test $? -eq 0
check "tatoeba: the sides match, and the attributions" sh -c '
    lines() { case $1 in *.gz) gzip -dc $1 ;; *) cat $1 ;; esac | wc -l; }
    for side in en ar attribution; do
        test $(lines new/val.$side) = 200 && test $(lines new/test.$side) = 200 &&
            test $(lines new/train.$side.gz) = $(lines new/train.en.gz) || exit 1
    done; test $(lines new/train.en.gz) -lt 1600'
check "tatoeba: duplicates are gone" sh -c '
    { cat new/val.ar new/test.ar; gzip -dc new/train.ar.gz; } | sort | uniq -d | wc -l | grep -qx 0'
check "tatoeba: no sentence of validation or test is in training" sh -c '
    fold() { tr A-Z a-z | tr -cd "a-z0-9\n" | sort -u; }
    cat new/val.en new/test.en | fold >held; gzip -dc new/train.en.gz | fold >train
    test -s held && test -s train && test -z "$(comm -12 held train)"'
check "tatoeba: pairs stay pairs" sh -c '
    paste new/val.en new/val.ar new/val.attribution | awk -F "\t" "{
        match(\$1, /[0-9]+/); e = substr(\$1, RSTART, RLENGTH); split(\$2, a, \" \"); split(\$3, c, \"#\")
        if (e != a[2] && e + 1 != a[2] || c[2] % 5000 != a[2]) exit 1 }"'
sum=$(sha256sum <$folder/ara.txt | cut -d ' ' -f 1)
check "tatoeba: an unknown SHA-256 is said" grep -q "no SHA-256 is known for tatoeba/ara.txt; it is $sum" err
check "tatoeba: it is in README" grep -qx "SHA-256: $sum" new/README
mv new once
echo "$sum  tatoeba/ara.txt" >>scripts/get-corpus.sums
get tatoeba en-ar "it's \$new"
check "a folder with any name" test $? -eq 0
check "tatoeba: a known SHA-256 needs no word" sh -c '! grep -q SHA-256 err'
sed -n "/train --train/,\$p" err | sed "s|^ *./train|set --|" >suggested
check "the command is quoted" sh -c '. ./suggested && test $# = 10 && test -s "$2" && test -s "$8"'
rm -r "it's \$new"
sed "s/^$sum/0000/" scripts/get-corpus.sums >sums && cp sums scripts/get-corpus.sums
fails "tatoeba: another archive than the one that is meant" 1 "tatoeba/ara.txt is not the file" tatoeba en-ar new
sed '/ara.txt/d' sums >scripts/get-corpus.sums
get tatoeba en-ar new
check "tatoeba: the same again" diff -r once new
rm -r new
get tatoeba ar-en new
check "tatoeba: in the other direction" sh -c 'cmp once/val.en new/val.en && cmp once/val.ar new/val.ar'
rm -r new
printf 'Yes.\tنعم\n' >$folder/ara.txt
fails "tatoeba: too few pairs" 1 "too few pairs to hold some out: 1" tatoeba en-ar new
printf 'no pairs here\n' >$folder/ara.txt
fails "tatoeba: no pairs" 1 "ara.txt has no pairs" tatoeba en-ar new

if command -v zip >/dev/null && command -v unzip >/dev/null; then
    opus=mirror/object.pouta.csc.fi/OPUS-Tatoeba/v2023-04-12/moses
    mkdir -p $opus
    awk 'BEGIN { for (i = 0; i < 500; i++) { print "Wort " i >"Tatoeba.de-nl.de"; print "woord " i >"Tatoeba.de-nl.nl" } }'
    zip -q $opus/de-nl.txt.zip Tatoeba.de-nl.de Tatoeba.de-nl.nl
    get tatoeba nl-de new
    check "tatoeba: any pair, from OPUS" sh -c '
        test "$(wc -l <new/val.nl)" = 50 && test "$(gzip -dc new/train.de.gz | wc -l)" = 400 &&
        paste new/val.nl new/val.de | awk "\$2 != \$4 { exit 1 }"'
    rm -r new
    fails "tatoeba: a pair that OPUS has not" 1 "cannot download .*de-xx.txt.zip" tatoeba de-xx new
    zip -q -d $opus/de-nl.txt.zip Tatoeba.de-nl.nl
    fails "tatoeba: an archive without a side" 1 "has no text in 'nl'" tatoeba nl-de new
else
    echo "skipped archives of tatoeba: zip or unzip is missing"
fi

# ---- what can be wrong ----
fails "no corpus is named" 2 "there is no corpus ''"
fails "a corpus that there is not" 2 "there is no corpus 'europarl'" europarl new
fails "no folder is named" 2 "takes a folder" multi30k
for pair in english en- en-en en-fr/../x 'en-$(x)' ''; do
    fails "no pair of languages: $pair" 2 "no pair of languages" tatoeba "$pair" new
done
mkdir there
get multi30k there
check "a folder that is there is left alone" sh -c 'test $0 -eq 1 && grep -q "is there already" err && rmdir there' $?
