#include "proxy/http/mended_head.hpp"

#include <algorithm>
#include <utility>

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

/// An octet that no value may have, and that ends no value: neither NUL, CR nor LF.
bool is_stray_control(char c) {
    return (c > '\0' && c < ' ' && c != '\t' && c != '\r' && c != '\n') || c == '\x7f';
}

/// `chunked` and nothing else, at least once. No sender encodes a body so twice.
bool is_chunked_alone(std::string_view value) {
    ListMembers codings(value);
    auto coding = codings.next();
    if (!coding) return false;
    while (coding && iequals(*coding, "chunked")) coding = codings.next();
    return !coding;
}

/// The name of a field line, and its value as it stands there. The name is empty if the line is
/// none, or continues the line before.
struct FieldLine {
    explicit FieldLine(std::string_view line) {
        if (line.empty() || is_blank(line.front())) return;
        const auto colon = line.find(':');
        if (colon == std::string_view::npos || colon == 0) return;
        padded_name = line.substr(0, colon);
        name = trim(padded_name);
        value = line.substr(colon + 1);
    }
    bool is_transfer_encoding() const { return iequals(name, "Transfer-Encoding"); }

    std::string_view padded_name, name, value;
};

/// `line` is at `begin`.
ParseError mend_field_line(const FieldLine& line, std::size_t begin, Mending& mending) {
    const auto& [padded, name, value] = line;
    const auto value_at = begin + padded.size() + 1;
    const auto is_padded = padded.size() != name.size();
    const auto has_strays = has_control(value) && std::ranges::any_of(value, is_stray_control);
    if ((is_padded || has_strays) &&
        (line.is_transfer_encoding() || iequals(name, "Content-Length")))
        return ParseError::bad_framing;
    if (is_padded) mending.replace(begin + name.size(), padded.size() - name.size(), "");
    if (line.is_transfer_encoding() && is_chunked_alone(value) && !iequals(trim(value), "chunked"))
        mending.replace(value_at, value.size(), " chunked");
    for (std::size_t at = 0; has_strays && at < value.size(); ++at)
        if (is_stray_control(value[at])) mending.replace(value_at + at, 1, " ");
    return ParseError::ok;
}

}  // namespace

ParseError mend_response_head(std::string& head) {
    Mending mending(head);
    const std::string_view text(head);
    auto is_chunked = false;  // a line has said so
    for (std::size_t begin = 0; begin < text.size();) {
        const auto lf = text.find('\n', begin);
        if (lf == std::string_view::npos) break;
        const auto has_cr = lf > begin && text[lf - 1] == '\r';
        const auto line = text.substr(begin, lf - begin - (has_cr ? 1 : 0));
        const FieldLine parts(begin == 0 ? std::string_view() : line);
        const auto says_chunked = parts.is_transfer_encoding() && is_chunked_alone(parts.value);
        if (begin == 0) mend_status_line(line, mending);
        if (says_chunked && parts.name == parts.padded_name && std::exchange(is_chunked, true)) {
            mending.replace(begin, lf + 1 - begin, "");
            begin = lf + 1;
            continue;
        }
        const auto verdict = mend_field_line(parts, begin, mending);
        if (verdict != ParseError::ok) return verdict;
        if (!has_cr) mending.replace(lf, 0, "\r");
        begin = lf + 1;
    }
    if (mending.changed()) head = mending.finish();
    return ParseError::ok;
}

}  // namespace proxy
