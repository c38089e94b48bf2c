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

std::string FieldHasher::operator()(std::string_view name, std::string_view value) const {
    using base::bytes_of;
    return base::hex(base::sip_hash(key_, {bytes_of(uri_), bytes_of("\n"), bytes_of(name),
                                           bytes_of("\n"), bytes_of(value)}));
}

std::optional<std::string> hashed_fields(Fields request, const FieldHasher& hasher) {
    std::string text, name, value;
    for (std::size_t i = 0; i < request.size(); ++i) {
        name.clear();
        append_lower(name, request[i].name);
        if (sent_in_clear(name) || !is_first_of_its_name(request, i)) continue;
        value.clear();
        append_variant(value, name, request);
        value.pop_back();  // its end
        if (!text.empty()) text.append(", ");
        text.append(name).append("=").append(hasher(name, value));
        if (text.size() > kMaxHashedFieldsBytes) return std::nullopt;
    }
    return text;
}

HashedFields::HashedFields(std::string_view text, const FieldHasher& hasher)
    : hasher_(hasher), usable_(text.size() <= kMaxHashedFieldsBytes) {
    ListMembers members(usable_ ? text : std::string_view());
    while (const auto member = members.next()) {
        const auto equals = member->find('=');
        if (equals == std::string_view::npos || member->size() - equals - 1 != kHashDigits) {
            usable_ = false;
            return;
        }
        hashes_.emplace_back(member->substr(0, equals), member->substr(equals + 1));
    }
}

bool HashedFields::matches(std::string_view name, std::optional<std::string_view> value) {
    if (!usable_) return false;
    const auto sent = std::find_if(hashes_.begin(), hashes_.end(),
                                   [name](const auto& each) { return each.first == name; });
    if (sent == hashes_.end() || !value) return sent == hashes_.end() && !value;
    return hasher_(name, *value) == sent->second;
}

std::string HashedFields::credentials() const {
    if (!usable_) return {};
    CredentialFields there = 0;
    for (const auto& [name, hash] : hashes_) there |= credential_field(name);
    return std::to_string(there);
}

}  // namespace proxy
