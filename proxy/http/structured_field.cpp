#include "proxy/http/structured_field.hpp"

#include "proxy/http/field_list.hpp"

#include <algorithm>

namespace proxy {

namespace {

constexpr bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
constexpr bool is_lower(char c) {
    return c >= 'a' && c <= 'z';
}
constexpr bool is_letter(char c) {
    return is_lower(c) || (c >= 'A' && c <= 'Z');
}

/// Parses a value from the left (RFC 9651 §4.2). Each function returns whether its piece is
/// well-formed. After false the reader's state is undefined.
class Reader {
public:
    explicit Reader(std::string_view text) : rest_(text) {}

    std::string_view rest() const { return rest_; }
    bool empty() const { return rest_.empty(); }

    bool take(char c) {
        if (!rest_.starts_with(c)) return false;
        rest_.remove_prefix(1);
        return true;
    }

    void skip_spaces() {
        while (take(' ')) {
        }
    }

    void skip_white_space() {
        while (take(' ') || take('\t')) {
        }
    }

    bool key(std::string_view& out) {
        if (empty() || (!is_lower(rest_.front()) && rest_.front() != '*')) return false;
        out = take_while([](char c) {
            return is_lower(c) || is_digit(c) || c == '_' || c == '-' || c == '.' || c == '*';
        });
        return true;
    }

    /// Checks the parameters, and returns their text.
    bool parameters(std::string_view& out) {
        const auto begin = rest_;
        while (rest_.starts_with(';')) {
            SfParameter parameter;
            if (!this->parameter(parameter)) return false;
        }
        out = begin.substr(0, begin.size() - rest_.size());
        return true;
    }

    bool parameter(SfParameter& out) {
        if (!take(';')) return false;
        skip_spaces();
        if (!key(out.key)) return false;
        out.value = {};
        return !take('=') || bare_item(out.value);
    }

    bool item(SfMember& out) { return bare_item(out.value) && parameters(out.parameters); }

    bool item_or_inner_list(SfMember& out) {
        if (!rest_.starts_with('(')) return item(out);
        out.value = {SfType::inner_list, 0, {}};
        return inner_list(out.value.text) && parameters(out.parameters);
    }

    bool dictionary_member(SfMember& out) {
        if (!key(out.key)) return false;
        if (take('=')) return item_or_inner_list(out);
        return parameters(out.parameters);
    }

private:
    template <class Predicate>
    std::string_view take_while(Predicate predicate) {
        const auto end = std::find_if_not(rest_.begin(), rest_.end(), predicate);
        const auto taken = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
        rest_.remove_prefix(taken.size());
        return taken;
    }

    bool bare_item(SfValue& out) {
        if (empty()) return false;
        const char first = rest_.front();
        if (first == '-' || is_digit(first)) return number(out);
        if (is_letter(first) || first == '*') return token(out);
        rest_.remove_prefix(1);
        switch (first) {
            case '"':
                return string(out);
            case ':':
                return bytes(out);
            case '?':
                return boolean(out);
            case '@':
                return date(out);
            default:
                return false;
        }
    }

    /// 1*15DIGIT, or 1*12DIGIT "." 1*3DIGIT.
    bool number(SfValue& out) {
        const bool negative = take('-');
        const auto whole = take_while(is_digit);
        if (whole.empty() || whole.size() > 15) return false;
        std::int64_t value = 0;
        for (const char c : whole) value = value * 10 + (c - '0');
        out = {SfType::integer, 0, {}};
        if (take('.')) {
            const auto fraction = take_while(is_digit);
            if (whole.size() > 12 || fraction.empty() || fraction.size() > 3) return false;
            out.type = SfType::decimal;
            for (std::size_t i = 0; i < 3; ++i) {
                value = value * 10 + (i < fraction.size() ? fraction[i] - '0' : 0);
            }
        }
        out.number = negative ? -value : value;
        return true;
    }

    bool date(SfValue& out) {
        if (!number(out) || out.type != SfType::integer) return false;
        out.type = SfType::date;
        return true;
    }

    bool token(SfValue& out) {
        const auto text = take_while([](char c) {
            return c == ':' || c == '/' || is_token({&c, 1});
        });
        out = {SfType::token, 0, text};
        return true;
    }

    bool string(SfValue& out) {
        for (std::size_t i = 0; i < rest_.size(); ++i) {
            const char c = rest_[i];
            if (c < 0x20 || c > 0x7e) return false;
            if (c == '"') {
                out = {SfType::string, 0, rest_.substr(0, i)};
                rest_.remove_prefix(i + 1);
                return true;
            }
            if (c != '\\') continue;
            ++i;
            if (i == rest_.size() || (rest_[i] != '"' && rest_[i] != '\\')) return false;
        }
        return false;
    }

    /// Padding may be left out (§4.2.7).
    bool bytes(SfValue& out) {
        const auto begin = rest_;
        const auto data =
            take_while([](char c) { return is_letter(c) || is_digit(c) || c == '+' || c == '/'; });
        const auto padding = take_while([](char c) { return c == '='; });
        out = {SfType::bytes, 0, begin.substr(0, data.size() + padding.size())};
        const bool fits = data.size() % 4 != 1 &&
                          (padding.empty() || (data.size() + padding.size()) % 4 == 0) &&
                          padding.size() <= 2;
        return fits && take(':');
    }

    bool boolean(SfValue& out) {
        out = {SfType::boolean, rest_.starts_with('1') ? 1 : 0, {}};
        return take('0') || take('1');
    }

    /// Items only: inner lists do not nest.
    bool inner_list(std::string_view& out) {
        take('(');
        const auto begin = rest_;
        for (;;) {
            skip_spaces();
            if (rest_.starts_with(')')) {
                out = begin.substr(0, begin.size() - rest_.size());
                return take(')');
            }
            SfMember member;
            if (!item(member)) return false;
            if (!rest_.starts_with(' ') && !rest_.starts_with(')')) return false;
        }
    }

    std::string_view rest_;
};

/// The members of one line; several lines mean one, joined by commas.
bool read_line(std::string_view line, bool dictionary, SfMembers& out) {
    Reader in(trim(line));
    for (;;) {
        if (out.size() == kMaxSfMembers) return false;
        auto& member = out.emplace_back();
        if (!(dictionary ? in.dictionary_member(member) : in.item_or_inner_list(member))) {
            return false;
        }
        in.skip_white_space();
        if (in.empty()) return true;
        if (!in.take(',')) return false;
        in.skip_white_space();
    }
}

std::optional<SfMembers> read_lines(Fields fields, std::string_view name, bool dictionary) {
    SfMembers members;
    std::size_t lines = 0, empty_lines = 0;
    for (const auto& field : fields) {
        if (!iequals(field.name, name)) continue;
        ++lines;
        if (trim(field.value).empty()) {
            ++empty_lines;
        } else if (!read_line(field.value, dictionary, members)) {
            return std::nullopt;
        }
    }
    // An empty line alone is an empty field. Beside other lines it is a comma too many.
    if (lines == 0 || (lines > 1 && empty_lines > 0)) return std::nullopt;
    return members;
}

}  // namespace

std::optional<SfMembers> sf_list(Fields fields, std::string_view name) {
    return read_lines(fields, name, false);
}

std::optional<SfMembers> sf_dictionary(Fields fields, std::string_view name) {
    return read_lines(fields, name, true);
}

const SfMember* find(const SfMembers& dictionary, std::string_view key) {
    const auto found = std::find_if(dictionary.rbegin(), dictionary.rend(),
                                    [&](const SfMember& member) { return member.key == key; });
    return found == dictionary.rend() ? nullptr : &*found;
}

std::optional<SfParameter> SfParameters::next() {
    Reader in(rest_);
    SfParameter parameter;
    if (!in.parameter(parameter)) return std::nullopt;
    rest_ = in.rest();
    return parameter;
}

}  // namespace proxy
