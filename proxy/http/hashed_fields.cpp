#include "proxy/http/hashed_fields.hpp"

#include "proxy/http/credentials.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/vary.hpp"

#include <algorithm>

namespace proxy {

namespace {

constexpr std::size_t kHashDigits = 2 * sizeof(base::SipHash);

/// Whether this line is the first one of its field, whose lines form one value.
bool is_first_of_its_name(Fields request, std::size_t index) {
    const auto before = request.first(index);
    return std::none_of(before.begin(), before.end(),
                        [&](const Field& earlier) { return same_name(earlier, request[index]); });
}

}  // namespace

bool sent_in_clear(std::string_view name) {
    return name == "accept" || name == "accept-charset" || name == "accept-encoding" ||
           name == "accept-language";
}

bool sent_in_clear(const Field& line) {
    using boost::beast::http::field;
    return line.id == field::accept || line.id == field::accept_charset ||
           line.id == field::accept_encoding || line.id == field::accept_language;
}

std::string FieldHasher::operator()(std::string_view name, std::string_view value) const {
    using base::bytes_of;
    return base::hex(base::sip_hash(
        key_, {bytes_of(uri_), bytes_of("\n"), bytes_of(name), bytes_of("\n"), bytes_of(value)}));
}

std::optional<std::string> hashed_fields(Fields request, std::string_view selecting,
                                         const FieldHasher& hasher) {
    constexpr std::size_t kUsualName = 18;  // with its comma: one allocation for most requests
    std::string text, value;
    text.reserve(kUsualName * request.size());
    for (std::size_t i = 0; i < request.size(); ++i) {
        if (sent_in_clear(request[i]) || !is_first_of_its_name(request, i)) continue;
        if (!text.empty()) text.append(", ");
        const auto begin = text.size();
        append_lower(text, request[i].name);
        if (has_name(selecting, request[i].name)) {
            const auto name = text.substr(begin);
            value.clear();
            append_variant(value, name, request);
            value.pop_back();  // its end
            text.append("=").append(hasher(name, value));
        }
        if (text.size() > kMaxHashedFieldsBytes) return std::nullopt;
    }
    return text;
}

HashedFields::HashedFields(std::string_view text, const FieldHasher& hasher)
    : hasher_(hasher), usable_(text.size() <= kMaxHashedFieldsBytes) {
    ListMembers members(usable_ ? text : std::string_view());
    while (const auto member = members.next()) {
        const auto equals = std::min(member->find('='), member->size());
        const auto hash = member->substr(equals).substr(equals < member->size() ? 1 : 0);
        if (equals < member->size() && hash.size() != kHashDigits) {
            usable_ = false;
            return;
        }
        hashes_.emplace_back(member->substr(0, equals), hash);
    }
}

HashedFields::Match HashedFields::match(std::string_view name,
                                        std::optional<std::string_view> value) {
    if (!usable_) return Match::no;
    const auto sent = std::find_if(hashes_.begin(), hashes_.end(),
                                   [name](const auto& each) { return each.first == name; });
    if (sent == hashes_.end() || !value)
        return sent == hashes_.end() && !value ? Match::yes : Match::no;
    if (!sent->second.empty())
        return hasher_(name, *value) == sent->second ? Match::yes : Match::no;
    add_name(unknown_names_, name);
    return Match::unknown;
}

std::string HashedFields::credentials() const {
    if (!usable_) return {};
    CredentialFields there = 0;
    for (const auto& [name, hash] : hashes_) there |= credential_field(name);
    return std::to_string(there);
}

}  // namespace proxy
