#include "proxy/http/field_list.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace proxy {

namespace {

constexpr std::array<bool, 256> kTokenBytes = [] {
    std::array<bool, 256> table{};
    for (char c = 'a'; c <= 'z'; ++c) table[static_cast<unsigned char>(c)] = true;
    for (char c = 'A'; c <= 'Z'; ++c) table[static_cast<unsigned char>(c)] = true;
    for (char c = '0'; c <= '9'; ++c) table[static_cast<unsigned char>(c)] = true;
    for (const char c : std::string_view("!#$%&'*+-.^_`|~")) {
        table[static_cast<unsigned char>(c)] = true;
    }
    return table;
}();

constexpr char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

constexpr bool is_ows(char c) {
    return c == ' ' || c == '\t';
}

/// Sets the high bit of an octet if one is below `limit`, which is at most 0x80. The lowest such
/// octet borrows from its own high bit; octets before it cannot borrow.
constexpr std::uint64_t octets_below(std::uint64_t octets, unsigned char limit) {
    constexpr auto kEach = ~std::uint64_t{0} / 0xff;
    return (octets - kEach * limit) & ~octets & (kEach * 0x80);
}

bool has_control_in_8(const char* text, unsigned char limit) {
    constexpr auto kDeletes = ~std::uint64_t{0} / 0xff * 0x7f;
    std::uint64_t octets = 0;
    std::memcpy(&octets, text, sizeof octets);
    return (octets_below(octets, limit) | octets_below(octets ^ kDeletes, 1)) != 0;
}

}  // namespace

bool is_token(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return kTokenBytes[static_cast<unsigned char>(c)];
    });
}

bool has_control(std::string_view text, unsigned char limit) {
    // Every target and field value passes here: eight octets per step, and the last eight again.
    constexpr std::size_t kStep = sizeof(std::uint64_t);
    if (text.size() < kStep)
        return std::any_of(text.begin(), text.end(), [limit](char c) {
            return static_cast<unsigned char>(c) < limit || c == 0x7f;
        });
    for (std::size_t at = 0; at + kStep <= text.size(); at += kStep)
        if (has_control_in_8(text.data() + at, limit)) return true;
    return has_control_in_8(text.data() + text.size() - kStep, limit);
}

bool has_forbidden_octet(std::string_view value) {
    return has_control(value) && std::any_of(value.begin(), value.end(), [](char c) {
               const auto byte = static_cast<unsigned char>(c);
               return (byte < 0x20 && byte != '\t') || byte == 0x7f;
           });
}

bool iequals(std::string_view a, std::string_view b) {
    // Equal names are mostly spelled alike, and different ones mostly begin with another letter.
    // Both cases end early.
    if (a.size() != b.size()) return false;
    if (a.empty()) return true;
    if (lower(a.front()) != lower(b.front())) return false;
    return std::memcmp(a.data(), b.data(), a.size()) == 0 ||
           std::equal(a.begin(), a.end(), b.begin(),
                      [](char x, char y) { return lower(x) == lower(y); });
}

bool same_variable(std::string_view a, std::string_view b) {
    const auto in_variable = [](char c) { return c == '_' ? '-' : lower(c); };
    return std::ranges::equal(a, b, {}, in_variable, in_variable);
}

void append_lower(std::string& out, std::string_view text) {
    const auto begin = out.size();
    out.append(text);
    std::transform(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end(),
                   out.begin() + static_cast<std::ptrdiff_t>(begin), lower);
}

std::string_view trim(std::string_view text) {
    while (!text.empty() && is_ows(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_ows(text.back())) text.remove_suffix(1);
    return text;
}

const Field* find(Fields fields, boost::beast::http::field id) {
    for (const auto& field : fields) {
        if (field.id == id) return &field;
    }
    return nullptr;
}

const Field* find(Fields fields, std::string_view name) {
    for (const auto& field : fields) {
        if (iequals(field.name, name)) return &field;
    }
    return nullptr;
}

std::string_view only_value(Fields fields, boost::beast::http::field id) {
    const Field* first = nullptr;
    for (const auto& field : fields) {
        if (field.id != id) continue;
        if (first != nullptr && first->value != field.value) return {};
        first = &field;
    }
    return first != nullptr ? first->value : std::string_view();
}

bool same_name(const Field& a, const Field& b) {
    if (a.id != b.id) return false;
    return a.id != boost::beast::http::field::unknown || iequals(a.name, b.name);
}

/// At a comma outside quotes, or at the end.
std::size_t ListMembers::member_end() {
    auto quote = std::string_view::npos;  // the one that is open
    for (std::size_t i = 0; quotes_ && i < rest_.size(); ++i) {
        const bool quoted = quote != std::string_view::npos;
        if (quoted && rest_[i] == '\\') {
            ++i;
        } else if (rest_[i] == '"') {
            quote = quoted ? std::string_view::npos : i;
        } else if (rest_[i] == ',' && !quoted) {
            return i;
        }
    }
    if (quotes_ && quote == std::string_view::npos) return rest_.size();
    const auto from = quotes_ ? quote : 0;
    quotes_ = false;
    return std::min(rest_.find(',', from), rest_.size());
}

std::optional<std::string_view> ListMembers::next() {
    while (!rest_.empty()) {
        const auto end = member_end();
        const auto member = trim(rest_.substr(0, end));
        rest_.remove_prefix(std::min(end + 1, rest_.size()));
        if (!member.empty()) return member;
    }
    return std::nullopt;
}

std::optional<std::string_view> FieldMembers::next() {
    for (;;) {
        if (const auto member = line_.next()) return member;
        while (!rest_.empty() && rest_.front().id != id_) rest_ = rest_.subspan(1);
        if (rest_.empty()) return std::nullopt;
        line_ = ListMembers(rest_.front().value);
        rest_ = rest_.subspan(1);
    }
}

bool has_name(std::string_view names, std::string_view name) {
    ListMembers list(names);
    auto there = list.next();
    while (there && !iequals(*there, name)) there = list.next();
    return there.has_value();
}

}  // namespace proxy
