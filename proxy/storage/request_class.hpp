#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/http/selecting.hpp"

namespace proxy {

/// By what a request says who asks, if it does.
enum class Credentials : std::uint8_t { none, cookie, authorization };

/// What requests for one target URI have in common when one response can answer all of them, as far
/// as that can be told before the response is there. A few bytes, however long the fields are: two
/// classes that are equal by accident cost a wait, as each response is compared with the request
/// before it is used.
struct RequestClass {
    std::uint64_t values = 0;  // hash of the fields that select a variant; 0: no field does
    Credentials credentials = Credentials::none;
};

/// The class of a request for a target that varies by `names` (from vary_names()); empty: it does
/// not vary, or nothing is known of it yet. `scratch` is overwritten.
RequestClass class_of(std::string_view names, const Selecting& request, std::string& scratch);
/// RequestClass::values of the requests that select a response stored under `names` and `variant`
/// (from append_variant()). `scratch` is overwritten.
std::uint64_t values_of(std::string_view names, std::string_view variant, std::string& scratch);

Credentials credentials_of(Fields request);

}  // namespace proxy
