#include "proxy/http/via.hpp"

#include "base/tls/crypto.hpp"
#include "proxy/http/field_list.hpp"

#include <algorithm>

namespace proxy {
namespace {

using http_field = boost::beast::http::field;

/// Removes the next member from a Via value. A comment may contain commas, parentheses and escaped
/// characters; an unterminated one extends to the end (RFC 9110 §5.6.5).
std::string_view take_via_member(std::string_view& rest) {
    std::size_t depth = 0, i = 0;
    for (; i < rest.size() && (depth > 0 || rest[i] != ','); ++i) {
        if (rest[i] == '(')
            ++depth;
        else if (depth > 0 && rest[i] == ')')
            --depth;
        else if (depth > 0 && rest[i] == '\\')
            ++i;
    }
    const auto member = trim(rest.substr(0, i));
    rest.remove_prefix(std::min(i + 1, rest.size()));
    return member;
}

/// received-by of `received-protocol RWS received-by [ RWS comment ]`.
std::string_view received_by(std::string_view member) {
    const auto protocol = member.find_first_of(" \t");
    if (protocol == std::string_view::npos) return {};
    const auto rest = trim(member.substr(protocol));
    return rest.substr(0, rest.find_first_of(" \t("));
}

}  // namespace

bool via_names(Fields fields, std::string_view node) {
    for (const auto& field : fields) {
        if (field.id != http_field::via) continue;
        for (auto rest = field.value; !rest.empty();)
            if (iequals(received_by(take_via_member(rest)), node)) return true;
    }
    return false;
}

std::string via_pseudonym(std::string_view node) {
    constexpr std::size_t kBytes = 8;
    base::HmacSha256 hash(base::bytes_of("hearsay name in Via"));
    return "p-" + base::hex(base::ByteView(hash({base::bytes_of(node)})).first(kBytes));
}

MaxForwards max_forwards(Fields request) {
    MaxForwards result;
    for (const auto& field : request) {
        if (field.id != http_field::max_forwards) continue;
        const auto digits = std::all_of(field.value.begin(), field.value.end(),
                                        [](char c) { return c >= '0' && c <= '9'; });
        if (result.state != MaxForwards::State::absent || !digits || field.value.empty())
            return {MaxForwards::State::malformed, 0};
        result.state = MaxForwards::State::present;
        for (const char c : field.value)
            result.hops = std::min(result.hops * 10 + static_cast<std::uint32_t>(c - '0'),
                                   MaxForwards::kMost);
    }
    return result;
}

}  // namespace proxy
