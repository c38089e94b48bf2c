#include "proxy/http/methods.hpp"

#include <algorithm>
#include <array>

namespace proxy {
namespace {

/// The methods with `Safe: yes` at https://www.iana.org/assignments/http-methods.
constexpr std::array<std::string_view, 9> kSafe{"GET",      "HEAD",   "OPTIONS", "TRACE", "PRI",
                                                "PROPFIND", "REPORT", "SEARCH",  "QUERY"};

}  // namespace

bool is_safe_method(std::string_view method) {
    return std::find(kSafe.begin(), kSafe.end(), method) != kSafe.end();
}

bool is_repeatable_method(std::string_view method) {
    return is_safe_method(method) || method == "PUT" || method == "DELETE";
}

}  // namespace proxy
