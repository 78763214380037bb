/* tokenizer-words.hh -- the rules by which the word type splits text into words.
 *
 * The library's word model splits at spaces only. So the model's normalisation table inserts
 * the spaces. It is a named table, such as nmt_nfkc, with these rules added:
 *
 *     text        becomes     because
 *     ' or ’      "' "        the article in "l'école" is a word; both apostrophes are the same
 *     . , : etc   " . "       a punctuation mark is a word
 *     .5 ,5 :5    unchanged   numbers and times: "3.14", "10:30"
 *     .a          unchanged   names: "www.example.org"
 *
 * A second table removes spaces when text is decoded: "' " becomes "'", " ." becomes "." (but "
 * .5" stays), " ," becomes ",", and so on for the punctuation that has no space in any
 * language. */
#pragma once

#include <map>
#include <string>

using Rules = std::map<std::string, std::string>;  // from a text to a text, UTF-8

Rules word_rules(const Rules &named);  // for normalisation: a named table with the rules above
Rules glue_rules(void);                // for decoding
