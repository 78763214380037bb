/* records.c -- tables: with tabs, with commas and quotation marks, and what is wrong with them. */
#include "data/records.h"

#include "tests/fixtures/temporary-file.h"
#include "tests/fixtures/test.h"

static Error error;
static const char *languages;  // of a TMX

/* The pairs of the columns, as "source>target|", or the error without the path. */
static const char *pairs_of(const char *text, int source, int target)
{
    static char joined[1 << 12];
    Records records;
    TextResult result;
    FILE *file = fopen(path, "wb");
    assert_true(fputs(text, file) >= 0);
    fclose(file);
    *joined = 0;
    CorpusFile table = {.source = path, .column = {source, target}, .languages = languages};
    assert_true(records_open(&records, &table, &error));
    while ((result = records_next(&records, &error)) == TEXT_LINE)
        for (int side = 0; side < 2; side++)
            strcat(strncat(joined, records.field[side], records.length[side]),
                   side ? "|" : ">");
    if (result == TEXT_ERROR) strcpy(joined, strstr(error.text, path) + strlen(path) + 1);
    records_close(&records);
    return joined;
}

TEST(tables)
{
    static const struct {
        const char *text;
        int source, target;
        const char *wanted;
    } CASE[] = {
        {"a\tb\nc\td\te\n", 1, 2, "a>b|c>d|"},
        {"1\ta\t2\tb\n3\tc\t4\td", 2, 4, "a>b|c>d|"},
        {"a\tb\n", 2, 1, "b>a|"},
        {"\"a\"\tb, c\n", 1, 2, "\"a\">b, c|"},  // no CSV
        {"\n \na,b\n", 1, 2, ">|>|a>b|"},
        {"a,b\nc,\"d, e\"\n", 1, 2, "a>b|c>d, e|"},
        {"a;b, c\n\"d;\";e\n", 1, 2, "a>b, c|d;>e|"},
        {"\"say \"\"no\"\"\",\"\"\n", 1, 2, "say \"no\">|"},
        {"\"two\nlines\",b\r\nc,d\r\n", 1, 2, "two lines>b|c>d|"},
        {"x,\"a\"\"\n\"\"b\",c\n", 2, 3, "a\" \"b>c|"},
        {"The 12\" pipe,le tuyau\na,b\nA 5\" screw,une vis\n", 1, 2,
         "The 12\" pipe>le tuyau|a>b|A 5\" screw>une vis|"},
        {",\n", 1, 2, ">|"},
        {"\"Wait; now.\", \"Attends\"\n  \"a\"\"b\",\"c, d\"\n", 1, 2,
         "Wait; now.>Attends|a\"b>c, d|"},
        {"sep=;\r\nYes, I do.;Oui.\r\n", 1, 2, "Yes, I do.>Oui.|"},
        {"sep=,\na; b,c\n", 1, 2, "a; b>c|"},
        {"sep=;\n", 1, 2, ""},
        {"#separator:tab\n#html:true\n#tags column:3\nbai\tyes\tx\n#bat\tone:\t\n", 1, 2,
         "bai>yes|#bat>one:|"},
        {"#separator:semicolon\n", 1, 2, ""},
        {"#a:b\tc\n", 1, 2, "#a:b>c|"},
        {"sep=;\n\"Yes\", he said;Oui\n", 1, 2, "Yes, he said>Oui|"},
        {"\"two\n\nlines, \";b\n\"c\";\"d\"\n", 1, 2, "two  lines, >b|c>d|"},
        {"\"a; b\nc\" ,d\ne,f\n", 1, 2, "a; b c >d|e>f|"},
        {"<!doctype HTML>\n<p>a\tb</p>\n", 1, 2, "is a web page: download the file itself"},
        {"sep=a\tb\n", 1, 2, "sep=a>b|"},
        {"Hello; I said, yes.\tSalut.\na ||| b\tc\n", 1, 2,
         "Hello; I said, yes.>Salut.|a ||| b>c|"},
        {"{\"a\": \"b\"}\tc\n", 1, 2, "{\"a\": \"b\"}>c|"},
        {"{\"name\"} is here,c\n", 1, 2, "{\"name\"} is here>c|"},
        {"{\"en\": \"a\", \"fr\": \"b\"}\n", 1, 2, "is JSON: give its strings, <(jq "},
        {"{ \"en\": \"a\", \"fr\": \"b\" }\n", 1, 2, "is JSON"},
        {"[\n  {\n    \"eu\": \"bai\"\n  }\n]\n", 1, 2, "is JSON"},
        {"<refset setid=\"a\" srclang=\"any\">\n<seg id=\"1\">Ja, so.</seg>\n", 1, 2,
         "is SGML: give its lines, <(sed -n 's/.*<seg[^>]*>\\(.*\\)<\\/seg>.*/\\1/p' '"},
        {"# Basque\n#\nmsgid \"Open\"\nmsgstr \"Ireki\"\n", 1, 2,
         "is a PO file of gettext: po2tmx -l LANGUAGE '"},
        {"<!DOCTYPE tstset SYSTEM \"a.dtd\">\n", 1, 2, "is SGML"},
        {"<a> set b\tc\n", 1, 2, "<a> set b>c|"},
        {"{\\rtf1\\ansi a,b\n", 1, 2, "is a document of an office program"},
        {"Hello, you. ||| Salut.\n", 1, 2, "has ||| between its columns: give <(sed "},
        {"a b\n", 1, 2, "1: there is no TAB: a line is source TAB target"},
        {"a\tb\nc\td\n", 1, 3, "1: the line has 2 columns: `columns` names number 3"},
        {"a,b\nc\n", 1, 2, "2: the line has 1 column with ',' between them, and should have 2"},
        {"a,b\n\"c\nd\",e\nYes, I do,Oui\n", 1, 2,
         "4: the line has 3 columns with ',' between them, and should have 2: put fields"},
        {"\"C:\nD\\\";b\n\"a \\\"c\\\"\";d\n", 1, 2,
         "3: a mark in quotation marks is \"\", not \\\": perl -pe 's/\\\\\"/\"\"/g' <OLD "
         ">NEW"},
        {"id;en;fr\n", 2, 4, "1: the line has 3 columns: `columns` names number 4"},
        {"Wait; now,b\nc,d\n", 1, 2,
         "2: the line has 1 column with ';' between them, and should"},
        {"\"a\nb\"\t\"c, d\"\n", 1, 2, "1: there is no TAB, but a quotation mark without"},
        {"a\tb\n\"c\nd\"\te\n", 1, 2, "2: there is no TAB, but a quotation mark without"},
        {"a,\"b\nc,d\n", 1, 2, "1: a quotation mark that opens a field has no partner"},
        {"a,b\n\"c\",\"d\ne,f\"\"\n", 1, 2,
         "2: a quotation mark that opens a field has no partner"},
    };
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        const char *got = pairs_of(CASE[i].text, CASE[i].source, CASE[i].target);
        if (!strstr(got, CASE[i].wanted)) fail_msg("case %zu: %s", i, got);
    }
}

/* Three languages in any order, a unit without a target, inline elements, entities, breaks, and what
 * no parser takes. */
TEST(tmx)
{
#define TMX(body)            "<?xml version=\"1.0\" encoding=\"UTF-16\"?>\n<tmx version='1.4'><body>" body
#define TUV(language, text)  "<tuv xml:lang='" language "'><seg>" text "</seg></tuv>"
#define END                  "</body></tmx>\n"
#define DOTS                 "................................................................"
#define TMX_BODY(s, a, t, b) "<tmx><body><tu>" TUV(s, a) TUV(t, b) "</tu>" END
    static const struct {
        const char *text;
        int source, target;
        const char *wanted;
    } CASE[] = {
        {TMX("<tu>" TUV("en", "a") TUV("FR", "b") "</tu>\n<tu>" TUV("fr", "d")
                 TUV("en", "c") "</tu>" END),
         1, 2, "a>b|c>d|"},
        {TMX("<tu>" TUV("en", "a") TUV("fr", "b") "</tu><tu>" TUV("de", "e")
                 TUV("en", "c") "</tu>" END),
         1, 3, "a>|c>e|"},
        {TMX("<tu>" TUV("en", "a") TUV("fr", "b") TUV("fr", "other") "</tu>" END), 2, 1,
         "b>a|"},
        {TMX("<tu><note>no</note>" TUV("en", "x &lt; <bpt i='1'>&lt;b><sub>no</sub></bpt>y"
                                             "<hi type='t'>z</hi><ph/>\n&#233; ")
                 TUV("fr", "<![CDATA[b & c]]>") "</tu>" END),
         1, 2, "x < yz é>b & c|"},
        /* newer parsers keep what follows a long comment until the end */
        {"<!--" DOTS DOTS DOTS DOTS "\n-->\n" TMX_BODY("en", "a", "fr", "b"), 1, 2, "a>b|"},
        {TMX(END), 1, 2, ""},
        {TMX("<tu>" TUV("en", "a") TUV("fr", "b") "</tu>"), 1, 2,
         "2: no element found: the file is cut off: copy or download it again"},
        {TMX("<tu>" TUV("en", "a & b") "</tu>" END), 1, 2,
         "2: not well-formed (invalid token): the file is cut off here, or has a & or < that "
         "is no markup, or a control character: perl -pe 's/&(?!#?\\w+;)/&amp;/g; "
         "s/[^\\t\\n\\r -\\xff]//g' <OLD >NEW mends each of these but <"},
        {TMX("<tu>" TUV("en", "a&#x1f;b") "</tu>" END), 1, 2,
         "2: reference to invalid character number: perl -pe "
         "'s/&#(0*([0-8]|1[124-9]|2\\d|3[01])|x0*([0-8bcef]|1[\\da-f]));//gi' <OLD >NEW "
         "removes those of control characters"},
        {TMX("<tu>" TUV("en", "a&nbsp;b") "</tu>" END), 1, 2,
         "2: undefined entity: write the character itself"},
        {"<?xml version='1.0'?><!DOCTYPE tmx SYSTEM 'tmx14.dtd'>\n" TMX_BODY("en", "r&ocirc;le",
                                                                             "fr", "b"),
         1, 2, "2: an entity that this file does not define: write the character itself"},
        {"<?xml version='1.0'?><!DOCTYPE tmx [<!ENTITY name SYSTEM 'name.txt'>]>\n" TMX_BODY(
             "en", "&name; here", "fr", "b"),
         1, 2, "2: an entity that this file does not define: write the character itself"},
        {TMX(END "<tmx/>"), 1, 2,
         "3: junk after document element: give each TMX as a file of its own"},
        {"<?xml version='1.0'?>\n<xliff/>\n", 1, 2,
         "2: it is XML, but no TMX: convert it to one, or to text with a TAB between source "
         "and target"},
    };
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        const char *got = pairs_of(CASE[i].text, CASE[i].source, CASE[i].target);
        assert_string_equal(got, CASE[i].wanted);
    }
}

/* Which languages are source and target: of regions, by the header, by name; and what stands before
 * <tmx>. */
TEST(tmx_languages)
{
#define HEAD(source) "<tmx><header srclang='" source "'/><body>"
    static const struct {
        const char *text, *languages, *wanted;
    } CASE[] = {
        {HEAD("en-US") "<tu>" TUV("en", "a") TUV("fr", "b") "</tu><tu>" TUV("EN-GB", "c")
             TUV("fr_FR", "d") "</tu><tu>" TUV("fr-CA", "f") TUV("en_US", "e") "</tu>" END,
         NULL, "a>b|c>d|e>f|"},
        {HEAD("en-GB") "<tu>" TUV("en-US", "color") TUV("en-GB", "colour") "</tu><tu>" TUV(
             "en-GB", "grey") TUV("en-US", "gray") "</tu>" END,
         NULL, "colour>color|grey>gray|"},
        {HEAD("zh") "<tu>" TUV("zh-CN", "a") TUV("zh-TW", "b") "</tu>" END, NULL, "a>b|"},
        {HEAD("en") "<tu>" TUV("de", "e") "</tu><tu>" TUV("fr", "b") TUV("en", "a") "</tu>" END,
         NULL, ">|a>b|"},
        {HEAD("*all*") "<tu>" TUV("fr", "b") TUV("en", "a") "</tu>" END, NULL, "b>a|"},
        {HEAD("en") "<tu>" TUV("en", "a") TUV("de", "e") TUV("fr", "b") "</tu>" END, NULL,
         "a>e|"},
        {HEAD("en") "<tu>" TUV("en", "a") TUV("de", "e") TUV("fr-FR", "b") "</tu>" END, "fr,en",
         "b>a|"},
        {HEAD("en") "<tu>" TUV("en", "a") TUV("pt-PT", "e") TUV("pt-BR", "b") "</tu>" END,
         "en,pt-BR", "a>b|"},
        {HEAD("en") "<tu>" TUV("zh-TW", "e") TUV("zh", "b") "</tu>" END, "zh,zh-TW", "b>e|"},
        {HEAD("en") "<tu>" TUV("en", "a") TUV("fr", "b") "</tu>" END, "en,ja", "a>|"},
        {"<t:tmx xmlns:t='x'><t:body><t:tu><t:tuv LANG='en'><t:seg>a</t:seg></t:tuv>"
         "<t:tuv LANG='fr'><t:seg>b</t:seg></t:tuv></t:tu></t:body></t:tmx>",
         NULL, "a>b|"},
        {"<!-- ours -->\n" TMX_BODY("en", "a", "fr", "b"), NULL, "a>b|"},
        {"<!DOCTYPE tmx SYSTEM 'tmx14.dtd'>\n" TMX_BODY("en", "tea", "fr", "thé"), NULL,
         "tea>thé|"},
        {" \n  <?xml version='1.0'?>" TMX_BODY("en", "a", "fr", "b"), NULL, ">|a>b|"},
        {TMX_BODY("en", "\n   one<ph type='lb'/>two\n  ", "fr", " b "), NULL, "one two>b|"},
    };
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        languages = CASE[i].languages;
        assert_string_equal(pairs_of(CASE[i].text, 1, 2), CASE[i].wanted);
    }
    languages = NULL;
}

/* A mark without a partner does not take a whole file into memory. */
TEST(endless_field)
{
    enum { LINES = 100000 };
    char *text = malloc(100 * LINES), *to = text;
    to += sprintf(to, "a,b\nc,\"d\n");
    for (int i = 0; i < LINES; i++)
        to += sprintf(to, "%-80s\n", "words, and more words, that go on and on");
    assert_non_null(strstr(pairs_of(text, 1, 2), "2: the record that begins here is too long"));
    free(text);
}

TEST_MAIN("records", path_make, path_remove)
