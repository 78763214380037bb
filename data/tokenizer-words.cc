/* tokenizer-words.cc -- the rules by which the word type splits text; see
 * tokenizer-words.hh. */
#include "data/tokenizer-words.hh"

#include <algorithm>
#include <cstring>
#include <string_view>

struct Punctuation {
    const char *text;
    bool glued_left, glued_right;  // no space on that side, in any language
    bool in_numbers, in_names;     // 3.14 and example.org are one word
};
static const Punctuation MARKS[] = {
    {".", true, false, true, true},     {",", true, false, true, false},
    {":", false, false, true, false},   {";", false, false, false, false},
    {"?", false, false, false, false},  {"!", false, false, false, false},
    {"(", false, true, false, false},   {")", true, false, false, false},
    {"“", false, true, false, false},   {"”", true, false, false, false},
    {"«", false, false, false, false},  {"»", false, false, false, false},
    {"\"", false, false, false, false},
};

static const char DIGITS[] = "0123456789";
static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/* The text with spaces around its punctuation and after its apostrophes. */
static std::string spaced(const std::string &text)
{
    std::string out;
    for (size_t i = 0; i < text.size();) {
        std::string_view rest(text.data() + i, text.size() - i);
        auto mark = std::find_if(std::begin(MARKS), std::end(MARKS), [&](const Punctuation &m) {
            return rest.substr(0, strlen(m.text)) == m.text;
        });
        if (mark != std::end(MARKS)) {
            out += std::string(" ") + mark->text + " ";
            i += strlen(mark->text);
        } else {
            out += text[i];
            if (text[i] == '\'') out += ' ';
            i++;
        }
    }
    return out;
}

/* Adds the rules that leave a mark inside a number or a name unchanged, after the text
 * `before`. */
static void keep_inside(Rules *rules, const Punctuation &mark, const std::string &before)
{
    std::string follow =
        std::string(mark.in_numbers ? DIGITS : "") + (mark.in_names ? LETTERS : "");
    for (char c : follow) {
        std::string text = before + mark.text + c;
        (*rules)[text] = text;
    }
}

Rules word_rules(const Rules &named)
{
    Rules rules;
    for (const auto &[from, to] : named) rules[from] = spaced(to);
    rules["'"] = rules["’"] = "' ";
    for (const Punctuation &mark : MARKS) {
        rules[mark.text] = spaced(mark.text);
        keep_inside(&rules, mark, "");
    }
    return rules;
}

Rules glue_rules(void)
{
    Rules rules{{"' ", "'"}};
    for (const Punctuation &mark : MARKS) {
        if (mark.glued_left) {
            rules[std::string(" ") + mark.text] = mark.text;
            keep_inside(&rules, mark, " ");
        }
        if (mark.glued_right) rules[std::string(mark.text) + " "] = mark.text;
    }
    return rules;
}
