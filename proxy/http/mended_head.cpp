#include "proxy/http/mended_head.hpp"

#include <algorithm>

#include "proxy/http/field_list.hpp"

namespace proxy {
namespace {

/// Collects replacements for parts of a text, from its beginning to its end.
class Mending {
public:
    explicit Mending(const std::string& text) : text_(text) {}

    void replace(std::size_t at, std::size_t count, std::string_view with) {
        mended_.append(text_, taken_, at - taken_).append(with);
        taken_ = at + count;
        changed_ = true;
    }
    bool changed() const { return changed_; }
    std::string finish() {
        mended_.append(text_, taken_, std::string::npos);
        return std::move(mended_);
    }

private:
    const std::string& text_;
    std::string mended_;
    std::size_t taken_ = 0;
    bool changed_ = false;
};

bool is_decimal(char c) {
    return c >= '0' && c <= '9';
}

bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

/// `line` is at the beginning of the text.
void mend_status_line(std::string_view line, Mending& mending) {
    constexpr std::string_view kBegin = "HTTP/1.", kShort = "HTTP/1.1 200";
    if (!line.starts_with(kBegin) || line.size() < kShort.size()) return;
    const auto minor = line[kBegin.size()];
    if (!is_decimal(minor) || line[kBegin.size() + 1] != ' ') return;
    if (minor > '1') mending.replace(kBegin.size(), 1, "1");
    if (line.size() == kShort.size() && std::all_of(line.end() - 3, line.end(), is_decimal))
        mending.replace(kShort.size(), 0, " ");
}

/// `line` is at `begin`. A line that begins with a space continues the line before.
ParseError mend_field_line(std::string_view line, std::size_t begin, Mending& mending) {
    if (line.empty() || is_blank(line.front())) return ParseError::ok;
    const auto colon = line.find(':');
    if (colon == std::string_view::npos || colon == 0 || !is_blank(line[colon - 1]))
        return ParseError::ok;
    const auto name = trim(line.substr(0, colon));
    if (iequals(name, "Content-Length") || iequals(name, "Transfer-Encoding"))
        return ParseError::bad_framing;
    mending.replace(begin + name.size(), colon - name.size(), "");
    return ParseError::ok;
}

}  // namespace

ParseError mend_response_head(std::string& head) {
    Mending mending(head);
    const std::string_view text(head);
    for (std::size_t begin = 0; begin < text.size();) {
        const auto lf = text.find('\n', begin);
        if (lf == std::string_view::npos) break;
        const auto has_cr = lf > begin && text[lf - 1] == '\r';
        const auto line = text.substr(begin, lf - begin - (has_cr ? 1 : 0));
        if (begin == 0) {
            mend_status_line(line, mending);
        } else {
            const auto verdict = mend_field_line(line, begin, mending);
            if (verdict != ParseError::ok) return verdict;
        }
        if (!has_cr) mending.replace(lf, 0, "\r");
        begin = lf + 1;
    }
    if (mending.changed()) head = mending.finish();
    return ParseError::ok;
}

}  // namespace proxy
