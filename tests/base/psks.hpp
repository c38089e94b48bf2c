#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/tls/crypto.hpp"
#include "base/tls/psk_context.hpp"

namespace base::test {

/// One key for each text, which is its name, too. Equal texts give equal keys.
inline std::vector<Psk> keys_of(const std::vector<std::string_view>& texts) {
    std::vector<Psk> keys;
    for (const auto text : texts) {
        auto& key = keys.emplace_back(Psk{std::string(text.substr(0, 16)), {}});
        HmacSha256 hash(bytes_of(text));
        key.secret = hash({bytes_of("a key of the tests")});
    }
    return keys;
}

}  // namespace base::test
