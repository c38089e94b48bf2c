#include "proxy/storage/request_class.hpp"

#include <functional>

#include "proxy/http/credentials.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/vary.hpp"

namespace proxy {
namespace {

using boost::beast::http::field;

/// `text` has the names, the end of a value, and the variant.
std::uint64_t hash_of(std::string_view text) {
    return std::hash<std::string_view>()(text);
}

}  // namespace

Credentials credentials_of(Fields request) {
    if (credential_fields(request) != 0) return Credentials::authorization;
    return find(request, field::cookie) ? Credentials::cookie : Credentials::none;
}

std::uint64_t values_of(std::string_view names, std::string_view variant, std::string& scratch) {
    if (names.empty()) return 0;
    scratch.assign(names).push_back(kEndOfValue);
    return hash_of(scratch.append(variant));
}

RequestClass class_of(std::string_view names, const SelectingFields& request,
                      std::string& scratch) {
    RequestClass asked;
    asked.credentials = credentials_of(request.fields);
    if (names.empty()) return asked;
    scratch.assign(names).push_back(kEndOfValue);
    append_variant(scratch, names, request.fields);
    asked.values = hash_of(scratch);
    return asked;
}

}  // namespace proxy
