/* The parts of a text: which are sentences, and that together they are the text. */
#include "data/segments.h"
#include "tests/fixtures/test.h"

// clang-format off
/* A sentence is in ⟨ ⟩, after a + if it continues a line. */
static const struct Case {
    const char *language, *parts;
} cases[] = {
    {"en", "⟨Mr. Smith met Mrs. Jones.⟩ +⟨They talked.⟩"},
    {"en", "⟨I don't.⟩ +⟨Nor does Tom’s.⟩ +⟨Do you?⟩"},
    {"en", "⟨We saw cities, e.g. Paris.⟩ +⟨Then we left.⟩"},
    {"en", "⟨It is 3.5 metres long.⟩ +⟨It is red.⟩"},
    {"en", "⟨U.S. troops left.⟩ +⟨The U.S. Army stayed.⟩"},
    {"en", "⟨\"What?\" he said.⟩ +⟨\"Nothing.\"⟩"},
    {"en", "⟨He said \"Stop!\"⟩ +⟨Then he left.⟩"},
    {"en", "⟨“Stop!”⟩ +⟨Then he left.⟩"},
    {"en", "⟨'Why?' she asked.⟩"},
    {"en", "⟨He left (it was late!) and slept.⟩"},
    {"en", "⟨He left.⟩ +⟨(It was late.)⟩ +⟨She stayed.⟩"},
    {"en", "⟨It was 5 a.m. in Paris.⟩ +⟨We slept.⟩"},
    {"en", "⟨J. R. R. Tolkien wrote it.⟩ +⟨I. M. Pei built it.⟩"},
    {"en", "⟨Well ... yes.⟩ +⟨Well... yes.⟩ +⟨Well… yes.⟩"},
    {"en", "⟨Wait...⟩ +⟨What?⟩ +⟨No!⟩"},
    {"en", "⟨This is the end.Start again.⟩"},
    {"en", "⟨See https://x.example/a.b?c=d!e for more.⟩ +⟨Bye.⟩"},
    {"en", "⟨Write to a.b@c.example.⟩ +⟨Thanks.⟩"},
    {"en", "**⟨Bold sentence.⟩** ⟨Next one.⟩"},
    {"en", "⟨**Bold** text.⟩ *⟨Italic.⟩*"},
    {"en", "***⟨Both.⟩***"},
    {"en", "_⟨Really?⟩_ ⟨Yes.⟩"},
    {"en", "⟨__init__ is a method.⟩"},
    {"en", "⟨Click <b>here!</b>⟩ +⟨Then wait.⟩"},
    {"en", "⟨[b]It is here.[/b]⟩ +⟨Then wait.⟩"},
    {"en", "-- ⟨A dog⟩"},
    {"en", "=== ⟨A dog ===⟩"},
    {"en", "\\item ⟨A dog⟩"},
    {"en", "<p>⟨One.⟩ +⟨Two.⟩</p>"},
    {"en", "⟨A man sits⟩<br>⟨a dog barks.⟩"},
    {"en", "⟨Onion soup⟩ . . . . . . 4.50"},
    {"en", "⟨The 2 dogs⟩..........17"},
    {"en", "⟨He ate..... and 3 of us, too.⟩"},
    {"en", "<ul class=\"x\"><li>⟨One⟩</li><li>- ⟨Two, un<b>believ</b>able⟩</li></ul>"},
    {"en", "⟨One.⟩\\r\\n- ⟨Two⟩\\n⟨Three⟩\\n"},
    {"en", "⟨It is in C:\\new\\old or src\\new.c, the `<br>` of $x\\nabla$ \\ref{a}⟩"},
    {"en", "⟨{\\an8}A man runs,⟩\\N⟨and⟩\\N- ⟨No!⟩"},
    {"en", "⟨It is in C:\\users\\nina today.⟩"},
    {"en", "⟨We work for NASA.⟩ +⟨Then he uses an app.⟩ +⟨It is good.⟩"},
    {"en", "⟨That is all.⟩ +⟨He is my boss.⟩ +⟨Yes.⟩"},
    {"en", "I. ⟨First⟩"},
    {"en", "IV. ⟨Fourth⟩"},
    {"en", "⟨I. M. Pei built it.⟩"},
    {"en", "⟨A cat sat.⟩"},
    {"ar", "أ) ⟨نعم⟩"},
    {"en", "(iv) ⟨four⟩"},
    {"en", "b.) ⟨two⟩"},
    {"en", "(a)(i) ⟨A man runs.⟩"},
    {"en", "5(2)(b) ⟨A man runs.⟩"},
    {"en", "1.a) (2b) ⟨A man runs.⟩"},
    {"en", "3a. ⟨A man runs.⟩"},
    {"en", "⟨f(x) is it⟩"},
    {"en", "⟨10(ten) men⟩"},
    {"en", "[2024-01-31 10:30:00] ⟨Ann: A dog⟩"},
    {"en", "[1/31/24, 10:30:00 PM] ⟨Ann: A dog⟩"},
    {"en", "31/01/2024, 10:30 - ⟨Ann: A dog⟩"},
    {"en", "1. 2. ⟨Three⟩"},
    {"en", "1.2. ⟨Section⟩"},
    {"en", "⟨3.5 metres⟩"},
    {"en", "> > - 1. ⟨Deep quote⟩"},
    {"en", ">> ⟨mail⟩"},
    {"en", "⟨>= 5 apples⟩"},
    {"en", "| ⟨cat⟩ | ⟨dog⟩ |"},
    {"en", "| ⟨`a \\| b` is⟩ | ⟨dog \\⟩| ⟨cat⟩ |"},
    {"en", "| ⟨The cat.⟩ +⟨It sat.⟩ |"},
    {"en", "|---|:-:|"},
    {"en", "- [x] ⟨Done⟩"},
    {"en", "<i>- ⟨Are you sure?</i>⟩"},
    {"en", "{\\an8}<i>– ⟨Yes.</i>⟩"},
    {"en", "⟨<i>Yes.</i>⟩"},
    {"en", "→ ⟨go⟩"},
    {"en", "• ⟨one⟩"},
    {"en", "‣ ⟨two⟩"},
    {"en", "– ⟨three⟩"},
    {"en", "· ⟨four⟩"},
    {"en", "⟨-five⟩"},
    {"en", "###### ⟨Six⟩"},
    {"en", "⟨####### Seven⟩"},
    {"en", "⟨#hashtag⟩"},
    {"en", "— ⟨Bonjour.⟩ +⟨Ça va ?⟩"},
    {"en", "* * *"},
    {"en", "⟨Is it 5?⟩ +⟨Yes.⟩ 6? ⟨No.⟩"},
    {"en", "⟨Yes!⟩ +⟨😀 No!⟩ 😀"},
    {"en", "⟨Yes!⟩😀"},
    {"en", "😀 ⟨Hello⟩"},
    {"en", "⟨Line with two spaces⟩  "},
    {"en", "⟨Line with backslash⟩\\"},
    {"en", "\t  ⟨Tabs and more⟩ "},
    {"en", "\u3000⟨ideographic⟩"},
    {"en", "\u00A0⟨no break⟩"},
    {"en", "⟨Mr.  Smith and Mr. Jones.⟩"},
    {"en", "⟨Are you there?⟩ +⟨i am here.⟩"},
    {"en", "⟨Hm?!⟩ +⟨Really??⟩ +⟨Yes!!!⟩ +⟨Good.⟩"},
    {"en", "00:00:02,830 --> 00:00:05,560"},
    {"en", "00:01.000 --> 00:04.000 align:start"},
    {"en", "WEBVTT - subtitles"},
    {"en", "⟨WEBVTTs are files.⟩"},
    {"en", "\t\u3000- ⟨Are you sure?⟩"},
    {"en", "\uFEFF# ⟨Title⟩"},
    {NULL, "⟨Mrs.\u00A0Smith left.⟩ +⟨He did, too.⟩"},
    {"en", "⟨<v Bob>Hello.⟩ +⟨I am Bob.</v>⟩"},
    {"en", "12:30"},
    {"en", "$ 5.00"},
    {"en", "⟨name⟩\t⟨value⟩"},
    {"en", "⟨Sum⟩      12.50    ⟨with tax⟩    "},
    {"en", "// ⟨A dog⟩"},
    {"en", "%% ⟨A dog⟩"},
    {"en", "; ⟨A dog⟩"},
    {"en", "⟨我很好。⟩+⟨你呢？⟩+⟨他说：“好！”⟩+⟨然后走了。⟩"},
    {"en", "⟨「はい。」と言った。⟩+⟨『そう！』の本。⟩+⟨「犬？」⟩+⟨猫。⟩"},
    {"en", "1、⟨第一。⟩+⟨第二。⟩"},
    {"ja", "・⟨牛乳⟩"},
    {"ja", "⟨「いや。」⟩+⟨「はい。」⟩+⟨（完）⟩"},
    {"ja", "⟨猫。⟩+⟨『「犬」』だ。⟩"},
    {"zh", "⟨猫。⟩+⟨“狗！”⟩+⟨“好。”⟩"},
    {"ja", "※⟨休み⟩"},
    {"ja", "（１）⟨猫。⟩+⟨犬。⟩"},
    {"ja", "(2)⟨猫（3）。⟩"},
    {"es", "1- ⟨Lea.⟩\n⟨4-5 casas⟩\n7- 3"},
    {"de", "⟨7- bis 9-jährige Kinder⟩"},
    {"ar", "١- ⟨افتح.⟩"},
    {"ar", "⟨وصل القطار.⟩ +⟨\u200Fثم غادر.⟩ +⟨\u200B\"نعم.\"⟩"},
    {"zh", "3.⟨开门。⟩+⟨走。⟩"},
    {"en", "4.⟨Open it.⟩\n⟨5.5 litres⟩\n⟨6.txt⟩"},
    {"en", "⟨A dog runs.⟩\u00A0 +⟨It barks.⟩\u00A0\u00A0+⟨Mr.\u00A0Fox left.⟩"},
    {"zh", "二、⟨猫。⟩+⟨十、犬。⟩"},
    {"zh", "⟨三、四只猫。⟩"},
    {"hi", "⟨मैं ठीक हूँ।⟩+⟨तुम कैसे हो?⟩"},
    {"am", "⟨ሰላም።⟩+⟨ደህና ነኝ።⟩"},
    {"en", "⟨هل أنت بخير؟⟩ +⟨نعم.⟩ +⟨شكرا۔⟩ +⟨حسنا.⟩"},
    {"en", "⟨मैं ठीक हूँ।⟩ +⟨तुम कैसे हो?⟩ +⟨अच्छा।⟩"},
    {"en", "⟨สวัสดีครับ คุณสบายดีไหม⟩"},
    {"en", "⟨네.⟩ +⟨알겠습니다.⟩ +⟨좋아.⟩"},
    {"en", "⟨Привет.⟩ +⟨Как дела?⟩ +⟨А. С. Пушкин.⟩"},
    {"en", "⟨He left. \"⟩ +⟨Then she did.⟩"},
    {"en", "⟨One. * two.⟩ +⟨Three.⟩"},
    {"de", "⟨Das kostet z. B. Dr. Müller viel.⟩ +⟨Er kam.⟩"},
    {"de", "⟨Am 5. Mai 1990 kam er.⟩ +⟨Das ist alles.⟩ +⟨Es war der.⟩"},
    {"de", "⟨Um 800 n. Chr. Geburt war es kalt.⟩ +⟨Ja.⟩"},
    {"de", "⟨»Halt!«, rief er.⟩ +⟨»Halt!«⟩ +⟨Er ging.⟩"},
    {"fr", "⟨M.\u00A0Dupont est là.⟩ +⟨Ça va\u202F?⟩ +⟨Fini.⟩"},
    {"fr", "⟨« Non ! »⟩ +⟨Il partit.⟩"},
    {"fr", "⟨« Quoi ! » dit-il.⟩ +⟨« Rien. »⟩"},
    {"fr", "⟨En 50 av. J.-C. Jules vint.⟩"},
    {"fr", "⟨En 50 av. J.-C. les Gaulois résistent.⟩ +⟨Oui.⟩"},
    {"pt", "⟨O Brasil.⟩ +⟨Ele vem do mar. Sim.⟩ +⟨O prof. Silva também.⟩"},
    {"ru", "⟨Это стоит 5 тыс. Рублей нет.⟩"},
    {"ru", "⟨См. рис. 7 и стр. 8 в ст. 9 Кодекса.⟩ +⟨Он ушёл.⟩"},
    {"es", "⟨El núm. 7 de EE. UU. está en la pág. 8 del siglo XX.⟩ +⟨La Sra. Ruiz lo vio.⟩"},
    {"tr", "⟨Prof. Dr. Kaya geldi.⟩ +⟨O gitti.⟩"},
    {"it", "⟨Il sig. Riva vive qui.⟩ +⟨Il cap. 4 è bello.⟩"},
    {"de", "⟨Sie wohnt in der Parkstr. 7 in Ulm.⟩ +⟨Ja.⟩"},
    {"ar", "⟨وصل د. سامي مع أ. د. ليلى.⟩ +⟨ثم خرج.⟩"},
    {"he", "⟨ש. י. עגנון כתב ספר.⟩ +⟨הוא גר כאן.⟩"},
    {"el", "⟨Τι κάνεις;⟩ +⟨Καλά.⟩ +⟨Εσύ;⟩"},
    {"en_GB", "⟨Mr. Smith left.⟩ +⟨He did.⟩"},
    {"tlh", "⟨Messrs. Smith and DR. JONES left.⟩ +⟨Capt.⟩ +⟨Smith left.⟩"},
    {NULL, "⟨Mr. Smith left. z. B. das.⟩ +⟨Ja.⟩"},
    {"../x", "⟨One.⟩ +⟨Two.⟩"},
    {"en", "⟨One.⟩\n\n⟨Two.⟩\r\n⟨Three.⟩\r⟨Four.⟩"},
    {"en", "⟨A.⟩\n```\nb. C\n\n  ```\n⟨D.⟩\n````\n```\nE.\n`````\n⟨F.⟩"},
    {"en", "⟨A.⟩\n```b \nc.\n``` b\n\nD."},
    {"en", "⟨``` b c⟩\n> ``` d {1}\n> e.\n> ```\n> ⟨F.⟩\n> ```\n> g\n⟨H.⟩"},
    {"en", "---\ntitle: A man. A dog.\n\nB\n---\n⟨Body.⟩\n---\n⟨key: C⟩"},
    {"en", "---\n⟨No key.⟩\n---"},
    {"en", "⟨In 1990, he ran.⟩ +⟨3 men sat.⟩ +⟨12 sang.⟩"},
    {"en", "⟨He ran on 3. 5. 2020.⟩ +⟨€5 is much.⟩"},
    {"en", "⟨She ran.⟩ +⟨{name} sits.⟩ +⟨<b>A woman</b> sings.⟩ +⟨<i>%s</i> left.⟩"},
    {"en", "⟨She met Mr.  Smith <b>etc. <i>and</i></b> left.⟩"},
    {"en", "⟨See fig. 3, vol. 2, Art. <b>5</b> and No. {n}.⟩ +⟨See approx. 3.⟩ +⟨It is.⟩"},
    {"en", "⟨She ran.⟩[1] +⟨He sat.⟩[2][3] +⟨Who?¹²⟩ +⟨Both!⟩"},
    {"en", "⟨Two [[dogs]]⟩ [4]"},
    {"en", "⟨It ends.⟩ [5] +⟨[[Ann]] left.⟩ +⟨[It rained.]⟩ +⟨Good.⟩"},
    {"en", "⟨he is 5 ft. tall.⟩ +⟨she works at acme co. ltd. in bonn.⟩ +⟨yes.⟩"},
    {"en", "⟨two[]⟩"},
    {"en", "⟨she ran.⟩ +⟨he sat.⟩ +⟨\"no.\"⟩ +⟨(they sang.) go.⟩"},
    {"en", "⟨see mr. smith, e.g. the u.s. one, vs. the other etc. and so on.⟩ +⟨no.⟩ +⟨yes.⟩"},
    {"en", "⟨A man ran.⟩ +⟨He fell⟩\t5\t⟨Two dogs⟩"},
    {"en", "⟨Home⟩ | ⟨News.⟩ +⟨Today⟩ | 5"},
    {"en", "⟨P(A | B) and `ls | wc` or a|b⟩"},
    {"en", "-⟨Are you sure?⟩"},
    {"en", "--⟨A man runs.⟩"},
    {"en", "-----⟨Original Message-----⟩"},
    {"en", "---------- ⟨Forwarded message ---------⟩"},
    {"en", "—⟨no!⟩"},
    {"es", "—⟨¿Qué? —dijo.⟩"},
    {"ar", "-⟨نعم⟩"},
    {"en", "⟨--help⟩"},
    {"en", "[00:12.34]⟨A man runs.⟩"},
    {"en", "[01:02][01:10.5] ⟨a dog⟩"},
    {"en", "⟨[1]two⟩"},
    {"en", "10:30 - ⟨Two dogs run.⟩"},
    {"en", "1 – ⟨One⟩"},
    {"en", "⟨10 - year - old⟩"},
    {"en", "1: ⟨one⟩"},
    {"en", "2/ ⟨Two⟩"},
    {"en", "3.- ⟨Three⟩"},
    {"en", "⟨3: 2 is the score⟩"},
    {"en", "[ ] ⟨To do⟩"},
    {"en", "-> ⟨go⟩"},
    {"en", "=> ⟨stop⟩"},
    {"en", ": ⟨A man who rides⟩"},
    {"en", "[^a]: ⟨A dog⟩"},
    {"en", "> [!NOTE]"},
    {"en", "[ref]: https://a.example/b_c ⟨\"A title\"⟩"},
    {"en", "[ref]: docs/a.md#b"},
    {"en", "⟨[Ann]: she left⟩"},
    {"en", "⟨She ran.⟩ +⟨@ann⟩"},
    {"en", "⟨She ran.⟩ +⟨`x = 1` runs.⟩ +⟨:smile:⟩"},
    {"en", "⟨She ran.⟩ +⟨https://a.example/b⟩"},
    {"en", "⟨She ran.⟩ :)"},
    {"en", "⟨See e.g. https://a.example, approx. `x` and etc. @ann.⟩"},
    {"en", "⟨10:30 PM is late.⟩"},
    {"de", "⟨10:30 Uhr ist spät.⟩"},
    {"de", "⟨1.500 Euro kostet das.⟩"},
    {"en", "2.1.3 ⟨A title⟩"},
    {"en", "⟨3.5 GB of data⟩"},
    {"en", "Kind: captions"},
    {"en", "Language: en-GB"},
    {"en", "⟨Kind: people⟩"},
    {"en", "⟨A.⟩\n~~~ c\nb. C\n```\n~~~\n⟨D.⟩\n~~~~\n⟨E.⟩\n~~~~"},
    {"de", "⟨am 3. mai kam er bzw. sie.⟩ +⟨der rest kam z. b. nie.⟩"},
    {"en", "menu.file.open=⟨Open a file.⟩ +⟨It is read.⟩"},
    {"en", "menu_open = ⟨Open a file⟩"},
    {"en", "cat.visible=true"},
    {"en", "\"open\" = ⟨\"Open it; now\"⟩;"},
    {"en", "\t\"open\": ⟨\"Open it\"⟩,"},
    {"en", "'open' => ⟨'Open it'⟩,"},
    {"en", "open: ⟨\"Open it\"⟩"},
    {"en", "-cat-name = ⟨Kitty⟩"},
    {"en", "  .label = ⟨A cat⟩"},
    {"en", "⟨Ann: \"Open it\",⟩"},
    {"en", "> ⟨\"Open it\",⟩"},
    {"en", "⟨Speed = way by time⟩"},
    {"en", "⟨a==b⟩"},
    {"en", "= ⟨A title⟩"},
    {"en", "#+TITLE: ⟨A title⟩"},
    {"en", "#+begin_src c"},
    {"en", ".. warning:: ⟨It is hot.⟩"},
    {"en", ".. |cat| image:: cat.png"},
    {"en", ".. _cats: https://a.example"},
    {"en", "⟨.. and so on⟩"},
    {"en", ":Version: ⟨The first⟩"},
    {"en", "#:: ⟨A cat⟩"},
    {"en", "[Events]"},
    {"en", "Format: Layer, Start, Text"},
    {"en", "Style: Default,Arial,20,0"},
    {"en", "⟨Style: old, good⟩"},
    {"en", "WrapStyle: 0"},
    {"en", "Dialogue: 0,0:00:01.00,0:00:02.50,Top,Ann,0,0,0,,⟨Yes, it is.⟩\\N⟨A cat⟩"},
    {"en", "[ti:A cat's song]"},
    {"en", "§ 2b (1) c) ⟨A cat sits.⟩"},
    {"en", "⟨§ 1 A cat (1) sits.⟩"},
    {"en", "– ⟨Is it late?⟩ – +⟨It is.⟩ — +⟨No!⟩"},
    {"en", "(1) ⟨A cat sits.⟩ (2) +⟨A dog runs.⟩"},
    {"en", "⟨Oh!⟩ - +⟨\"Good,\"⟩"},
    {"en", ""},
};

/* Small files of many kinds; NUL bytes may be in them. */
#define FILE_OF(text) {text, sizeof text - 1}
static const struct Text {
    const char *text;
    size_t size;
} files[] = {
    FILE_OF("WEBVTT\n\n00:01.000 --> 00:04.000 line:0\n<v Ann>Hello. Bye.</v>\n\nNOTE a comment\n\n00:05.000 --> 00:06.000\nEnd"),
    FILE_OF("\xEF\xBB\xBF" "1\r\n00:00:01,000 --> 00:00:02,000\r\nWith a mark. And CR LF.\r\n\r\n"),
    FILE_OF("````md\n```\nA. B.\n```\n````\nAfter.\n"),
    FILE_OF("- [ ] to do\n- [x] done. Really.\n\n***\n\n**Bold.** _Italic._ `code`.\n\nbreak\\\nbreak  \nend\n"),
    FILE_OF("---\ntitle: Front matter\nlang: en\n---\nBody. Text.\n"),
    FILE_OF("From: a@b.example\nTo: c@d.example\nSubject: Re: Hi. Again.\nDate: Mon, 1 Jan 2024 10:00:00 +0100\n\nHello,\n\n> On Monday you wrote.\n>> And I too.\n\n-- \nAnn\n"),
    FILE_OF("<!DOCTYPE html>\n<html><body>\n<h1>Title</h1>\n<p>One. Two!</p><br/>\n<ul>\n<li>A.</li>\n</ul>&nbsp;&copy; 2024\n</body></html>\n"),
    FILE_OF("\\documentclass{article}\n\\begin{document}\n\\section{One}\nText with $a < b$. And \\emph{more}. % No.\n\\[ x = 1.5 \\]\n\\end{document}\n"),
    FILE_OF("#include <stdio.h>\n\nint main(void)\n{\n\tputs(\"Hello. World!\");  /* Yes. No. */\n\treturn 0;\n}\n"),
    FILE_OF("1) one\n2) two\na) three\n(b) four\niv. five\nIV. six\n\n\t• seven\n – eight\n"),
    FILE_OF("我很好。你呢？\n\n\u3000\u3000段落。\n1、一\n"),
    FILE_OF("नमस्ते। आप कैसे हैं? ठीक।\n१. पहला\n"),
    FILE_OF("e\u0301a. E\u0301. \U0001D538\U0001D539. \U0001F469\u200D\U0001F467! \U0001F1EB\U0001F1F7 Oui.\n"),
    FILE_OF("One.\rTwo.\r\rThree."),
    FILE_OF("One.\u2028Two.\u2029Three.\fFour.\vFive.\xC2\x85Six."),
    FILE_OF("\r\n\n\r\n\r"),
    FILE_OF("   \t \n\u00A0\u3000\n"),
    FILE_OF("...\n***\n-\n?\n7\n12:30\n"),
    FILE_OF("|\n||\n| |\n|a\n|\\\n\\\n"),
    FILE_OF("*\n**\n***\n****\n_\n__a\n*a*b*\n*a.* *b.*\n"),
    FILE_OF("\0. A\0b. C\0"),
};
// clang-format on

static Segments segments;
static Error error;

FIXTURE(set_up)
{
    // A text in a language without abbreviations must not get those of the environment's.
    return setenv("LC_ALL", "en_US.UTF-8", 1);
}

FIXTURE(tear_down)
{
    segments_free(&segments);
    return 0;
}

static void find(const char *text, size_t size, const char *language)
{
    if (!segments_find(&segments, text, size, language, &error)) fail_msg("%s", error.text);
}

/* The parts put together are the text; no two kept ones follow each other. */
static void check_parts(const char *text, size_t size, const char *language)
{
    char joined[1024];
    size_t length = 0;
    find(text, size, language);
    for (int i = 0; i < segments.count; i++) {
        Segment s = segments.segment[i];
        assert_true(s.begin < s.end && s.end <= size);
        assert_true(((unsigned char)text[s.begin] & 0xC0) != 0x80);
        if (s.kept) assert_false(s.continues || (i && segments.segment[i - 1].kept));
        memcpy(joined + length, text + s.begin, s.end - s.begin);
        length += s.end - s.begin;
    }
    assert_int_equal(length, size);
    assert_memory_equal(joined, text, size);
}

TEST(finds_sentences)
{
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char text[1024] = "", found[1024] = "", *end = text;
        for (const char *p = cases[c].parts; *p; p++)
            if (!strncmp(p, "+⟨", 4)) p += 3;
            else if (!strncmp(p, "⟨", 3) || !strncmp(p, "⟩", 3)) p += 2;
            else *end++ = *p;
        check_parts(text, (size_t)(end - text), cases[c].language);
        end = found;
        for (int i = 0; i < segments.count; i++) {
            Segment s = segments.segment[i];
            end += sprintf(end, "%s%.*s%s",
                           s.kept        ? ""
                           : s.continues ? "+⟨"
                                         : "⟨",
                           (int)(s.end - s.begin), text + s.begin, s.kept ? "" : "⟩");
        }
        assert_string_equal(found, cases[c].parts);
    }
}

TEST(parts_are_the_text)
{
    static const char *const language[] = {NULL, "", "en", "de", "zh_CN", "no such one", "é"};
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        for (size_t l = 0; l < sizeof language / sizeof *language; l++)
            check_parts(files[f].text, files[f].size, language[l]);
        for (size_t size = 0; size < files[f].size; size++)  // cut at every character
            if (((unsigned char)files[f].text[size] & 0xC0) != 0x80)
                check_parts(files[f].text, size, "en");
    }
}

/* If one of them took quadratic time, the test would run for many minutes; if the stack of ICU's matcher grew with
 * the text, it would fail. */
TEST(time_is_linear)
{
    static const char *const unit[] = {
        "a",     "a\n",     " ",       "\n",    "\u3000", "1",     "1.",    "1. ",     "1.1",
        "`",     "```\n",   "```x\n",  "> ",    "- ",     "#",     "|a",    ".*",      ". A.",
        "a?",    "a.</a",   "a!\" ",   "a! ) ", "*a*",    "_a",    "Mr. ",  "5. ",     "1 --> ",
        "-->",   "\uFEFF",  "WEBVTT ", "好。",  "😀 ",     "... A", "a) ",   "IV. ",    "A. ;",
        "\\",    "!\u00A0", "<a>! ",   "\r",    "a. ",    "a.[1]", ". (",   "no. 5. ", "<p",
        "<br>a", "\\n",     "a\\n",    ". ",    "a=",     "a.b=",  "\"a\":"};
    enum { SIZE = 1 << 17 };
    char *text = malloc(SIZE);
    for (size_t u = 0; u < sizeof unit / sizeof *unit; u++) {
        size_t length = strlen(unit[u]), size = 0;
        for (; size + length <= SIZE; size += length) memcpy(text + size, unit[u], length);
        find(text, size, u % 2 ? "de" : "en");
        assert_true(segments.count > 0);
        assert_int_equal(segments.segment[segments.count - 1].end, size);
    }
    free(text);
}

TEST_MAIN("segments", set_up, tear_down)
