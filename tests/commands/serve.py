"""serve.py -- asks a running ./serve, as tests/commands/serve.sh starts it; prints "ok NAME" or "not ok NAME: why".

    serve.py PORT CHECKS EXPECTED     EXPECTED: lines of source TAB translation, as ./translate gives them
"""
import http.client, json, os, random, signal, socket, sys, threading, time, urllib.parse

port, which, expected = int(sys.argv[1]), sys.argv[2], [line.rstrip("\n").split("\t") for line in open(sys.argv[3])]
failed = False


def check(name, good, why=""):
    global failed
    failed |= not good
    print("ok " + name if good else f"not ok {name}: {str(why)[:300]!r}", flush=True)


def ask(method, path, body=None, kind="application/json", headers={}):
    """The status, the headers and the body of an answer, as JSON if it is that."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=1000)
    body = json.dumps(body) if isinstance(body, (dict, list)) else body
    connection.request(method, path, body, {**({"Content-Type": kind} if body is not None else {}), **headers})
    if which == "document":
        open("sent", "w").close()
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    is_json = answer.getheader("Content-Type", "").startswith("application/json")
    return answer.status, answer, json.loads(data) if is_json and data else data


def post(path, **body):
    status, _, data = ask("POST", path, body)
    return status, data


def form(path, **fields):
    status, _, data = ask("POST", path, urllib.parse.urlencode(fields), "application/x-www-form-urlencoded")
    return status, data


def multipart_form(fields):
    part = "--a-boundary\r\nContent-Disposition: form-data; name=\"%s\"\r\n\r\n%s\r\n"
    return "".join(part % item for item in fields.items()) + "--a-boundary--\r\n"


def refuses(name, status, message, answer):
    check(name, answer[0] == status and message in answer[-1].get("error", ""), answer)


PAIR = {"source": "en", "target": "fr"}
text, translation = expected[0]

if which == "all":
    check("a form", form("/translate", q=text, **PAIR) == (200, {"translatedText": translation}), form("/translate", q=text, **PAIR))
    check("JSON", post("/translate", q=text, **PAIR) == (200, {"translatedText": translation}))
    check("the query", ask("POST", "/translate?" + urllib.parse.urlencode({"q": text, **PAIR}))[2] == {"translatedText": translation})
    check("a form of several parts", ask("POST", "/translate", multipart_form({"q": text, **PAIR}), "multipart/form-data; boundary=a-boundary")[2] == {"translatedText": translation})
    status, answer = post("/translate", q=[source for source, _ in expected], **PAIR)
    check("an array", answer == {"translatedText": [target for _, target in expected]}, answer)
    lines = "\n".join(source for source, _ in expected) + "\n"
    wanted = "\n".join(target for _, target in expected) + "\n"
    check("lines", post("/translate", q=lines, **PAIR)[1] == {"translatedText": wanted})
    check("a long form", form("/translate", q=lines * 30, **PAIR)[1] == {"translatedText": wanted * 30})
    begin = time.time()
    check("a field that nobody reads", form("/translate", q=text, other="a" * 1900000, **PAIR)[1] == {"translatedText": translation})
    check("takes no time", time.time() - begin < 2, time.time() - begin)
    status, answer = post("/translate", q=[text, ""], alternatives=2, details=True, **PAIR)
    check("alternatives", 1 <= len(answer["alternatives"][0]) <= 2 and translation not in answer["alternatives"][0], answer)
    check("details", answer["details"][0]["sentences"][0]["source"] == [0, len(text)], answer)
    many = "é\n" + (text + "\n\n— ü —\n") * 3
    answer = post("/translate", q=many, details=True, **PAIR)[1]
    ranges = answer["details"]["sentences"]
    check("ranges of the source", [many[slice(*r["source"])] for r in ranges].count(text) == 3, ranges)
    check("ranges of the translation", [answer["translatedText"][slice(*r["target"])] for r in ranges].count(translation) == 3, ranges)
    odd = "sees zebra sees red and zebra a big to a"  # another beam translates it otherwise
    plain = post("/translate", q=odd, **PAIR)[1]["translatedText"]
    more = form("/translate", q=odd, alternatives="2", details="true", **PAIR)[1]
    check("alternatives and details of a form", len(more["alternatives"]) > 0 and more["details"]["unknown"] == ["zebra"], more)
    check("alternatives leave the best translation", more["translatedText"] == plain, (plain, more))
    begun = post("/translate", q=text, prefix="anna", **PAIR)[1]["translatedText"]
    check("a prefix", begun.startswith("anna"), begun)
    for more in {"q": [text, text]}, {"q": text, "format": "html"}:
        refuses("a prefix of other than one text", 400, "Invalid request: prefix is that of one text, not HTML", post("/translate", prefix="anna", **more, **PAIR))
    page = "<!-- a --><p class='x'>the <b>red</b> car</p><script>var p = '<p>';</script><pre>b</pre>"
    answer = post("/translate", q=page, format="html", **PAIR)[1]["translatedText"]
    check("HTML", answer.startswith("<!-- a --><p class='x'>") and answer.endswith("</p><script>var p = '<p>';</script><pre>b</pre>") and
          answer.count("<b>") == answer.count("</b>") == 1 and "voiture" in answer, answer)
    check("HTML without a word", post("/translate", q="<br>&nbsp;", format="html", **PAIR)[1] == {"translatedText": "<br>&nbsp;"})
    check("languages", ask("GET", "/languages")[2] == [
        {"code": "en", "name": "English", "targets": ["fr", "en"]}, {"code": "fr", "name": "French", "targets": ["en", "fr"]}])
    settings = ask("GET", "/frontend/settings")[2]
    check("settings", settings["language"]["source"]["code"] == "en" and settings["charLimit"] == 1000000 and not settings["keyRequired"], settings)
    check("health", ask("GET", "/health")[2] == {"status": "ok"})
    status, answer = form("/detect", q="Je voudrais savoir pourquoi il ne veut pas venir avec nous.")
    if status == 400 and "CLD2" in answer["error"]:
        print("skipped the detection of languages: built without CLD2")
    else:
        check("detection", answer[0]["language"] == "fr" and answer[0]["confidence"] > 50, answer)
        answer = post("/translate", q="This is the red car that my sister sees.", source="auto", target="fr")[1]
        check("auto", answer["detectedLanguage"]["language"] == "en" and "voiture" in answer["translatedText"], answer)
        answer = post("/translate", q="Je voudrais savoir pourquoi.", source="auto", target="fr")[1]
        check("auto, of the target's language", answer["translatedText"] == "Je voudrais savoir pourquoi." and answer["detectedLanguage"]["language"] == "fr", answer)
        page = "<html><head><title>Page</title></head><body><div class='main content'><p>Je voudrais <b>savoir</b> pourquoi.</p></div></body></html>"
        answer = post("/translate", q=page, source="auto", target="fr", format="html")[1]
        check("auto, of HTML, whose tags are not English", answer["detectedLanguage"]["language"] == "fr", answer)
        check("detection of what is no text", post("/detect", q=[7, "the red car of my sister"])[1][0]["language"] == "en")
        answer = post("/translate", q=["This is my sister.", "The red car."], source="auto", target="fr")[1]
        check("auto of an array", len(answer["detectedLanguage"]) == len(answer["translatedText"]) == 2, answer)
    status, _, svg = ask("POST", "/attention", {"q": text, "format": "svg", "head": 2, **PAIR})
    check("attention as a picture", status == 200 and b"<svg" in svg, svg)
    status, answer = post("/attention", q=text, **PAIR)
    check("attention as JSON", status == 200 and answer["source"] == text and len(answer["kinds"]) == 3, answer)
    sides = post("/attention", q="zora sees the red car", **PAIR)[1]["sides"]
    check("its words and probabilities", sides["source"]["text"][0] == "zora" and all(p > 0 for p in sides["target"]["probability"]), sides)
    two = {"q": f"{text}\nthe red car", **PAIR}
    for name, answer in (("a form", form("/attention", sentence="2", **two)), ("a text in JSON", post("/attention", sentence="2", layer=None, **two))):
        check(f"attention of the sentence of {name}", answer[0] == 200 and answer[1]["source"] == "the red car", answer)
    status, page, html = ask("GET", "/")
    check("the page", status == 200 and page.getheader("Content-Type").startswith("text/html") and b'id="translation"' in html)

    refuses("no text", 400, "missing q parameter", post("/translate", **PAIR))
    refuses("no language", 400, "missing source parameter", post("/translate", q="x", target="fr"))
    refuses("another language", 400, "de is not supported", post("/translate", q="x", source="de", target="fr"))
    check("a language to itself", post("/translate", q=["x  y", "z"], source="en", target="en")[1] == {"translatedText": ["x  y", "z"]})
    check("has no alternatives", post("/translate", q="x", source="fr", target="fr", alternatives=2)[1] == {"translatedText": "x", "alternatives": []})
    refuses("attention of a language to itself", 400, "English (en) is not available as a target language from English (en)", post("/attention", q="x", source="en", target="en"))
    refuses("another format", 400, "xml format is not supported", post("/translate", q="x", format="xml", **PAIR))
    refuses("a format in an array", 400, "format is no text", post("/translate", q="<b>x</b>", format=["html"], **PAIR))
    refuses("a number as prefix", 400, "prefix is no text", post("/attention", q=text, prefix=3, **PAIR))
    refuses("another head", 400, "head", post("/attention", q=text, head=99, **PAIR))
    rollout = {"q": text, "format": "svg", "head": "rollout", **PAIR}
    refuses("a bare map of all kinds", 400, "choose one `attention-kind`", post("/attention", q=text, format="svg", bare=True, attention_kind="all", **PAIR))
    for option in ({"words": "1-2"}, {"font": "DejaVu Sans"}, {"range": "auto"}, {"bare": True}):
        refuses(f"what only pictures have: {option}", 400, "are of pictures: choose `format` svg, png or pdf", post("/attention", q=text, **option, **PAIR))
    refuses("rollout of two sentences", 400, "choose `attention-kind` encoder", post("/attention", **rollout))
    check("what its error says to choose", ask("POST", "/attention", {"attention-kind": "encoder", **rollout})[0] == 200)
    refuses("another sentence", 400, "sentences 1 to 1", post("/attention", q=text, sentence=7, **PAIR))
    refuses("a layer and a half", 400, "`layer` takes a whole number from 0 to 64, not '1.5'", post("/attention", q=text, layer=1.5, **PAIR))
    refuses("a number for a range", 400, "LOW:HIGH, from 0:1 inwards, such as 0:0.5, not '0.5'", post("/attention", q=text, range=0.5, **PAIR))
    refuses("a word for a number", 400, "`alternatives` takes a whole number, not 'abc'", post("/translate", q=text, alternatives="abc", **PAIR))
    refuses("more alternatives than are searched", 400, "alternatives parameter must be <= 10", post("/translate", q=text, alternatives=11, **PAIR))
    refuses("a number for a flag", 400, "`details` takes true or false, not '[]'", post("/translate", q=text, details=[], **PAIR))
    refuses("attention of an array", 400, "attention is that of one text", post("/attention", q=[text], **PAIR))
    refuses("an array of no texts to their own language", 400, "q is no text", post("/translate", q=[7], source="en", target="en"))
    refuses("a number as text", 400, "q", post("/translate", q=[7], **PAIR))
    refuses("a text that is too long", 400, "exceeds text limit (1000000)", post("/translate", q="a" * 1000001, **PAIR))
    refuses("too many texts", 400, "20001 texts; the limit is 20000", post("/translate", q=[""] * 20001, **PAIR))
    refuses("a body that is too long", 413, "longer than", post("/translate", q="a" * 3000000, **PAIR))
    refuses("JSON by another type", 415, "Content-Type must be application/json", ask("POST", "/translate", {"q": "a", **PAIR}, "text/plain"))
    refuses("a compressed body", 415, "must not be compressed", ask("POST", "/translate", {"q": "a"}, headers={"Content-Encoding": "gzip"}))
    refuses("JSON that ends", 400, "Invalid JSON", ask("POST", "/translate", '{"q":"x'))
    refuses("JSON that is deep", 400, "Invalid JSON", ask("POST", "/translate", "[" * 100000))
    refuses("JSON that is no object", 400, "Invalid JSON", ask("POST", "/translate", "[]"))
    refuses("JSON that is not UTF-8", 400, "Invalid JSON", ask("POST", "/translate", b'{"q":"\xff","source":"en","target":"fr"}'))
    refuses("a form that is not UTF-8", 400, "UTF-8", ask("POST", "/translate", "q=%ff&source=en&target=fr", "application/x-www-form-urlencoded"))
    refuses("a NUL byte", 400, "NUL", ask("POST", "/translate", "q=a%00b&source=en&target=fr", "application/x-www-form-urlencoded"))
    refuses("a NUL byte in the query", 400, "NUL", ask("POST", "/translate?q=a%00b&source=en&target=fr"))
    refuses("a query that is not UTF-8", 400, "UTF-8", ask("POST", "/translate?q=%ff&source=en&target=fr"))
    refuses("a file", 403, "Files translation are disabled on this server.",
            ask("POST", "/translate_file", multipart_form({'file"; filename="a.docx': "PK\0\1", **PAIR}), "multipart/form-data; boundary=a-boundary"))
    refuses("a suggestion", 403, "Suggestions are disabled on this server.", post("/suggest", q="a", s="b", **PAIR))
    refuses("a path that is not there", 404, "Not Found", ask("GET", "/x"))
    refuses("another method", 405, "Method Not Allowed", ask("GET", "/translate"))
    check("and says which there are", [ask(*what)[1].getheader("Allow") for what in (("GET", "/translate"), ("POST", "/"))] == ["POST", "GET, HEAD"])
    check("no CORS unless it is asked for", ask("GET", "/health")[1].getheader("Access-Control-Allow-Origin") is None)

    wrong = []
    def client(number):
        for i in range(20):
            source, target = expected[(7 * number + i) % len(expected)]
            answer = (form if i % 2 else post)("/translate", q=source, **PAIR)
            if answer != (200, {"translatedText": target}): wrong.append((source, answer))
    threads = [threading.Thread(target=client, args=(number,)) for number in range(16)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    check("sixteen clients at once", not wrong, wrong[:1])

    slow = [socket.create_connection(("127.0.0.1", port)) for _ in range(200)]
    for one in slow: one.sendall(b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nq=a")
    gone = socket.create_connection(("127.0.0.1", port))
    body = json.dumps({"q": lines * 20, **PAIR}).encode()
    gone.sendall(b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    gone.close()
    check("slow clients and one that has gone", post("/translate", q=text, **PAIR)[1] == {"translatedText": translation})
    for one in slow: one.close()

if which.startswith("random"):  # randomN: N bodies that are nearly right
    random.seed(1)
    seeds = [(json.dumps({"q": [text, "<p>a <b>b</b>"], "format": "html", "alternatives": 3, "details": True, **PAIR}), "application/json"),
             (json.dumps({"q": text, "format": "svg", "sentence": 1, "head": "2", "kind": "all", **PAIR}), "application/json"),
             (urllib.parse.urlencode({"q": text, "prefix": "le", "api_key": "k", **PAIR}), "application/x-www-form-urlencoded"),
             (multipart_form({"q": text, **PAIR}), "multipart/form-data; boundary=a-boundary")]
    pieces = [b"null", b"1e999", b"-1", b"[" * 300, b"{}", b'"', b"\\ud800", b"\xff\x00", b"%", b"&q=", b"\r\n\r\n", b"\xf0\x9f\x98\x80", b"q", b"true", b"<b"]
    bad = []
    for _ in range(int(which[6:])):
        body, kind = random.choice(seeds)
        body = bytearray(body.encode())
        for _ in range(random.randint(1, 4)):
            at = random.randrange(len(body) + 1)
            body[at : at + random.choice([0, 0, 1, 8, 40])] = random.choice(pieces + [bytes([random.randrange(256)])])
        path = random.choice(["/translate", "/attention", "/detect"])
        status, answer, data = ask("POST", path, bytes(body), kind)
        if status not in (200, 400, 404) or (status != 200 and not data.get("error")): bad.append((status, path, bytes(body)))
    check("random bodies have an answer", not bad, bad[:1])
    check("and then a right one is answered", post("/translate", q=text, **PAIR)[1] == {"translatedText": translation})

if which == "keys":
    refuses("no key", 403, "Please contact the server operator to get an API key", post("/translate", q=text, **PAIR))
    refuses("another key", 403, "Invalid API key", post("/translate", q=text, api_key="x", **PAIR))
    answers = [form("/translate", q=text, api_key="second", **PAIR) for _ in range(7)]
    check("a key", answers[0] == (200, {"translatedText": translation}), answers[0])
    check("too many requests", sorted(a[0] for a in answers) in ([200] * 5 + [429] * 2, [200] * 6 + [429], [200] * 7), answers)
    refuses("and what is said of them", 429, "Slowdown", [a for a in answers if a[0] == 429][-1] if answers[-1][0] == 429 else (429, {"error": "Slowdown"}))
    answer = ask("OPTIONS", "/translate")[1]
    check("CORS", answer.status == 200 and answer.getheader("Access-Control-Allow-Origin") == "https://example.org")

if which == "several":  # models from Arabic, Hebrew, Norwegian and Portuguese; 100 requests a minute of an address
    status, answer = post("/detect", q="אני רוצה לדעת למה הוא לא רוצה לבוא איתנו מחר")
    if status == 200:
        check("detection names Hebrew as LibreTranslate does", answer[0]["language"] == "he", answer)
        def auto(text, **more):
            status, answer = post("/translate", q=text, source="auto", target="en", **more)
            return answer["detectedLanguage"]["language"] if status == 200 else answer["error"]
        check("auto takes the model of Hebrew", auto("אני רוצה לדעת למה הוא לא רוצה לבוא איתנו מחר") == "he")
        check("... of Norwegian", auto("Jeg vil gjerne vite hvorfor han ikke vil bli med oss i morgen.") == "nb", auto("Jeg vil gjerne vite hvorfor han ikke vil bli med oss i morgen."))
        check("... of a kind of Portuguese", auto("Eu gostaria de saber por que ele não quer vir conosco amanhã.") == "pt-BR")
        check("... and none of another language", auto("Ich möchte gerne wissen, warum er morgen nicht mit uns kommen will.") == "de is not supported")
        check("... nor of what is no language", auto("12").startswith("The language of the text is not known"), auto("12"))
    def behind(address):
        return ask("POST", "/detect", {"q": "a"}, headers={"X-Forwarded-For": address})[0]
    many = [behind("10.0.0.1, 10.0.0.2") for _ in range(201)]
    check("behind a proxy each client has its own limit", 429 in many and behind("10.0.0.2, 10.0.0.1") != 429, many[-1])
    with socket.create_connection(("127.0.0.1", port)) as two:
        two.sendall(b"POST /detect?q=a HTTP/1.0\r\nX-Forwarded-For: 10.0.0.3\r\nX-Forwarded-For: 10.0.0.2\r\n\r\n")
        check("the proxy's own header comes last", b" 429 " in two.recv(100))

if which == "short":  # texts of at most 5 characters
    check("the page does not need long texts", ask("GET", "/")[0] == 200)
    refuses("a text that is too long, to its own language", 400, "exceeds text limit (5)", post("/translate", q="abcdef", source="en", target="en"))

if which == "full":
    answers = []
    body = {"q": [source for source, _ in expected] * 100, **PAIR}
    threads = [threading.Thread(target=lambda: answers.append(post("/translate", **body))) for _ in range(8)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    check("too many that wait", sorted({status for status, _ in answers}) == [200, 503], [status for status, _ in answers])
    check("names of languages", [one["name"] for one in ask("GET", "/languages")[2]] == ["English", "French", "Norwegian Bokmål"])
    check("what is answered is whole", all(len(answer["translatedText"]) == 100 * len(expected) for status, answer in answers if status == 200))

if which == "number":  # a model with placeholders
    for kept, what in ("25", "the numbers of the text"), ("BB", "what --protect keeps"):
        sides = post("/attention", q=f"A {kept} C", **PAIR)[1]["sides"]
        check(f"attention has {what}", all(kept in sides[side][unit] for side in sides for unit in ("text", "joined")), sides)

if which == "document":  # prints the translation of a long text
    print(post("/translate", q=("\n".join(source for source, _ in expected) + "\n") * 200, **PAIR)[1].get("translatedText", "").count("\n"))

if which.startswith("reload"):  # reloadPID: of a server with more threads
    def pages():
        return int(open(f"/proc/{which[6:]}/statm").read().split()[1])
    before = pages()
    for _ in range(8):
        os.kill(int(which[6:]), signal.SIGHUP)
        time.sleep(0.1)
        post("/translate", q=text, **PAIR)
    check("models that were loaded again are freed", pages() - before < 6000, (before, pages()))

if which == "lanes":
    lines = "\n".join(source for source, _ in expected * 10)
    check("short and long texts", [post("/translate", q=q, **PAIR)[0] for q in (text, lines)] == [200, 200])

if which == "one":
    print(post("/translate", q=text, **PAIR)[1].get("translatedText"))

sys.exit(failed)
