#include "proxy/http/selecting_fields.hpp"

#include <optional>

#include "proxy/http/field_list.hpp"
#include "proxy/http/vary.hpp"

namespace proxy {
namespace {

/// For a peer request, field by field. An unknown value is none of the stored ones. The other
/// fields are compared all the same, so that the names of all unknown ones are noted.
bool hashed_variant_matches(std::string_view names, std::string_view variant,
                            const SelectingFields& request, std::string& scratch) {
    using Match = HashedFields::Match;
    auto all_known = true;
    ListMembers list(names);
    while (const auto name = list.next()) {
        const auto length = variant.find(kEndOfValue);
        if (length == std::string_view::npos) return false;
        const auto stored = variant.substr(0, length + 1);
        variant.remove_prefix(length + 1);
        const auto bare = name->substr(name->starts_with(kKeyFieldMark) ? 1 : 0);
        if (sent_in_clear(bare)) {
            scratch.clear();
            append_variant(scratch, *name, request.fields);
            if (scratch != stored) return false;
            continue;
        }
        std::optional<std::string_view> value = stored.substr(0, length);
        if (*value == std::string_view(&kAbsentValue, 1)) value.reset();
        if (bare == kCredentialNames) {
            if (request.hashed->credentials() != value.value_or("0")) return false;
            continue;
        }
        const auto match = request.hashed->match(bare, value);
        if (match == Match::no) return false;
        if (match == Match::unknown) all_known = false;
    }
    return all_known;
}

}  // namespace

bool VariantMatcher::operator()(std::string_view names, std::string_view variant) {
    if (names == kVaryAny) return false;
    if (names.empty()) return true;
    if (request_.hashed) return hashed_variant_matches(names, variant, request_, scratch_);
    if (names != names_) {
        scratch_.clear();
        append_variant(scratch_, names, request_.fields);
        names_ = names;
    }
    return scratch_ == variant;
}

bool variant_matches(std::string_view names, std::string_view variant,
                     const SelectingFields& request, std::string& scratch) {
    return VariantMatcher(request, scratch)(names, variant);
}

}  // namespace proxy
