#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace app {

/// A word of a foreign configuration, without its quotes.
struct Word {
    std::string text;
    bool quoted = false;
};

/// One directive of squid.conf or of a file of nginx.
struct Directive {
    std::string place;  // FILE:LINE
    std::string name;
    std::vector<Word> words;       // after the name
    std::vector<Directive> block;  // nginx: what stands between the braces
    bool has_block = false;

    /// The word at `index`, or nothing.
    std::string_view word(std::size_t index) const {
        return index < words.size() ? std::string_view(words[index].text) : std::string_view();
    }
    /// The words from `first` on, with a blank between them.
    std::string rest(std::size_t first) const {
        std::string out;
        for (auto i = first; i < words.size(); ++i)
            out.append(out.empty() ? "" : " ").append(words[i].text);
        return out;
    }
};

/// The result of a lexer for one file.
struct Lexed {
    std::vector<Directive> directives;
    std::string error;       // with its place; empty: the text is well-formed
    bool has_format = true;  // of a source: false, with an error, if nobody knows its format
};

}  // namespace app
