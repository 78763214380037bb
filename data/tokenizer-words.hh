/* tokenizer-words.hh -- how the word type breaks text into words, as SentencePiece's rules.
 *
 * The library's word model splits at spaces only, so the normalisation table, which is part of the
 * model, puts the spaces in. It is the named table (nmt_nfkc, say) with
 *
 *     text        becomes     because
 *     ' or ’      "' "        the article in "l'école" is a word; any apostrophe is one
 *     . , : etc   " . "       a mark is a word
 *     .5 ,5 :5    unchanged   numbers and times: "3.14", "10:30"
 *     .a          unchanged   names: "www.example.org"
 *
 * and a second table undoes it on the way back: "' " becomes "'", " ." becomes "." (but " .5"
 * stays), " ," becomes ",", and so on for the marks that take no space in any language. */
#ifndef DATA_TOKENIZER_WORDS_HH
#define DATA_TOKENIZER_WORDS_HH

#include <map>
#include <string>

using Rules = std::map<std::string, std::string>;  // from a text to a text, UTF-8

/* The rules of a normalisation with ours. */
Rules word_rules(const Rules &named);

/* The way back. */
Rules glue_rules(void);

#endif
