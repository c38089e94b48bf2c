#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/http/selecting_fields.hpp"

namespace proxy {

/// The credentials in a request. `authorization`: any of credentials.hpp.
enum class Credentials : std::uint8_t { none, cookie, authorization };

/// The requests for one target URI that one response can answer, as far as that is known before the
/// response comes. A class takes a few bytes, however long the fields are. Two classes that are
/// equal by accident cost a wait, because each response is compared with the request before its
/// use.
struct RequestClass {
    std::uint64_t values = 0;  // hash of the fields that select a variant; 0 for all alike
    Credentials credentials = Credentials::none;
};

/// The class of a request for a target that varies by `names`, from vary_names(). Empty names: it
/// is alike for all, or unknown. `scratch` is overwritten.
RequestClass class_of(std::string_view names, const SelectingFields& request, std::string& scratch);
/// RequestClass::values of the requests that select a response stored under `names` and `variant`,
/// from append_variant(). `scratch` is overwritten.
std::uint64_t values_of(std::string_view names, std::string_view variant, std::string& scratch);

Credentials credentials_of(Fields request);

}  // namespace proxy
