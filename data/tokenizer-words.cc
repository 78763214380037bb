/* tokenizer-words.cc -- how the word type breaks text into words; see tokenizer-words.hh. */
#include "data/tokenizer-words.hh"

#include <algorithm>
#include <cstring>
#include <string_view>

struct Mark {
    const char *text;
    bool glued_left, glued_right;  // in every language
    bool in_numbers, in_names;     // 3.14 and example.org are one word
};
static const Mark MARKS[] = {
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

/* text with spaces around its marks and behind its apostrophes. */
static std::string spaced(const std::string &text)
{
    std::string out;
    for (size_t i = 0; i < text.size();) {
        std::string_view rest(text.data() + i, text.size() - i);
        auto mark = std::find_if(std::begin(MARKS), std::end(MARKS), [&](const Mark &m) {
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

/* Adds the rules that keep a mark inside a number or a name; `before` is what precedes it. */
static void keep_inside(Rules *rules, const Mark &mark, const std::string &before)
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
    for (const Mark &mark : MARKS) {
        rules[mark.text] = spaced(mark.text);
        keep_inside(&rules, mark, "");
    }
    return rules;
}

Rules glue_rules(void)
{
    Rules rules{{"' ", "'"}};
    for (const Mark &mark : MARKS) {
        if (mark.glued_left) {
            rules[std::string(" ") + mark.text] = mark.text;
            keep_inside(&rules, mark, " ");
        }
        if (mark.glued_right) rules[std::string(mark.text) + " "] = mark.text;
    }
    return rules;
}
