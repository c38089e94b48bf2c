#include <algorithm>
#include <string>
#include <utility>

#include "app/import/lexers.hpp"

namespace app {
namespace {

constexpr std::size_t kMostBlocks = 32;  // inside each other

/// Takes the text apart. Blocks are a stack, so that no text makes the recursion deep.
class NginxLexer {
public:
    NginxLexer(std::string_view text, std::string_view file) : text_(text), file_(file) {}

    Lexed run() {
        open_.push_back(&out_.directives);
        while (out_.error.empty() && skip_blanks()) step();
        if (!out_.error.empty()) return std::move(out_);
        if (pending_)
            fail("the last directive has no semicolon");
        else if (open_.size() > 1)
            fail("a block has no closing brace");
        return std::move(out_);
    }

private:
    void fail(const char* why) { out_.error = place(line_) + ": " + why; }

    std::string place(std::size_t line) const {
        return std::string(file_).append(":").append(std::to_string(line));
    }

    char take() {
        const char c = text_[at_++];
        if (c == '\n') ++line_;
        return c;
    }

    /// Skips blanks and comments. False at the end of the text.
    bool skip_blanks() {
        while (at_ < text_.size()) {
            const char c = text_[at_];
            if (c == '#')
                while (at_ < text_.size() && text_[at_] != '\n') ++at_;
            else if (is_blank(c))
                take();
            else
                return true;
        }
        return false;
    }

    static bool is_blank(char c) {
        return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\0';
    }

    void step() {
        const char c = text_[at_];
        if (c == ';')
            end_directive();
        else if (c == '{')
            open_block();
        else if (c == '}')
            close_block();
        else
            add_word();
    }

    void end_directive() {
        take();
        if (!pending_) return fail("a semicolon without a directive");
        open_.back()->push_back(std::move(directive_));
        forget();
    }

    void open_block() {
        take();
        if (!pending_) return fail("a block without a name");
        if (open_.size() > kMostBlocks) return fail("too many blocks inside each other");
        const bool is_code = directive_.name.ends_with("_by_lua_block");
        directive_.has_block = true;
        open_.back()->push_back(std::move(directive_));
        forget();
        if (is_code)
            skip_code();
        else
            open_.push_back(&open_.back()->back().block);
    }

    /// Lua up to its closing brace. Braces in its strings and comments count, too.
    void skip_code() {
        for (std::size_t depth = 1; at_ < text_.size();) {
            const char c = take();
            if (c == '{') ++depth;
            if (c == '}' && --depth == 0) return;
        }
        fail("a block has no closing brace");
    }

    void close_block() {
        take();
        if (pending_) return fail("a directive has no semicolon");
        if (open_.size() == 1) return fail("a closing brace without a block");
        open_.pop_back();
    }

    void forget() {
        directive_ = {};
        pending_ = false;
    }

    void add_word() {
        const auto first = line_;
        Word word;
        const char quote = text_[at_];
        if (quote == '"' || quote == '\'') {
            word.quoted = true;
            take();
            for (;;) {
                if (at_ == text_.size()) return fail("a quote is never closed");
                if (text_[at_] == quote) break;
                add_byte(word.text);
            }
            take();
        } else {
            while (at_ < text_.size() && !ends_word()) add_byte(word.text);
        }
        if (!pending_) {
            pending_ = true;
            directive_.place = place(first);
            directive_.name = std::move(word.text);
        } else {
            directive_.words.push_back(std::move(word));
        }
    }

    /// The brace of `${name}` belongs to the word.
    bool ends_word() const {
        const char c = text_[at_];
        return is_blank(c) || c == ';' || (c == '{' && (at_ == 0 || text_[at_ - 1] != '$'));
    }

    /// One byte, or an escape: a backslash stays unless it hides a quote or itself, as in nginx.
    void add_byte(std::string& out) {
        const char c = take();
        if (c != '\\' || at_ == text_.size()) return out.push_back(c);
        const char next = take();
        if (next != '"' && next != '\'' && next != '\\') out.push_back(c);
        out.push_back(next);
    }

    std::string_view text_, file_;
    std::size_t at_ = 0, line_ = 1;
    Lexed out_;
    std::vector<std::vector<Directive>*> open_;
    Directive directive_;
    bool pending_ = false;  // directive_ has its name
};

}  // namespace

Lexed lex_nginx(std::string_view text, std::string_view file) {
    return NginxLexer(text, file).run();
}

}  // namespace app
