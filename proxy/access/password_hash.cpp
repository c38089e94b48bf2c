#include "proxy/access/password_hash.hpp"

#include <crypt.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <memory>

#include "base/tls/crypto.hpp"

namespace proxy {
namespace {

constexpr unsigned kMostBcryptCost = 16;     // about 4 s
constexpr unsigned kMostRounds = 5'000'000;  // of SHA-2, about 2 s

constexpr std::string_view kRounds = "rounds=";  // of SHA-2

/// A scheme of crypt(5). `last`: the bytes behind the last `$`.
struct HashScheme {
    std::string_view prefix;
    std::size_t last;
};
constexpr std::array<HashScheme, 6> kSchemes{
    {{"$2y$", 53}, {"$2b$", 53}, {"$2a$", 53}, {"$y$", 43}, {"$6$", 86}, {"$5$", 43}}};

bool is_of_crypt_alphabet(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '/' || c == '$' || c == '=';
}

/// The number at the start of `text`; 0: there is none, or it is too large.
unsigned leading_number(std::string_view text) {
    unsigned number = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
    return result.ec == std::errc() ? number : 0;
}

/// The digit of crypt(5) there; 0: it is none.
int digit_at(std::string_view text, std::size_t at) {
    constexpr std::string_view kDigits =
        "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    const auto digit = at < text.size() ? kDigits.find(text[at]) : std::string_view::npos;
    return digit == std::string_view::npos ? 0 : static_cast<int>(digit);
}

bool is_too_costly(std::string_view hash) {
    if (hash.starts_with("$2")) return leading_number(hash.substr(4)) > kMostBcryptCost;
    if (!hash.starts_with("$y$") && hash.substr(3).starts_with(kRounds)) {
        const auto digits = hash.substr(3 + kRounds.size());
        const auto rounds = leading_number(digits);
        return rounds == 0 || rounds > kMostRounds;
    }
    return false;
}

}  // namespace

HashFault judge_hash(std::string_view hash) {
    if (hash.starts_with("$apr1$") || hash.starts_with("$1$") || hash.starts_with("{") ||
        !hash.starts_with("$"))
        return HashFault::weak;
    const auto scheme = std::ranges::find_if(
        kSchemes, [&](const HashScheme& each) { return hash.starts_with(each.prefix); });
    if (scheme == kSchemes.end()) return HashFault::unknown;
    if (!std::all_of(hash.begin(), hash.end(), is_of_crypt_alphabet)) return HashFault::unknown;
    if (hash.size() - hash.rfind('$') - 1 != scheme->last) return HashFault::cut_off;
    if (is_too_costly(hash)) return HashFault::too_costly;
    const std::string text(hash);
    if (text.size() >= CRYPT_OUTPUT_SIZE || ::crypt_checksalt(text.c_str()) == CRYPT_SALT_INVALID)
        return HashFault::unknown;
    return HashFault::none;
}

std::string_view to_string(HashFault fault) {
    switch (fault) {
        case HashFault::none:
            return "good";
        case HashFault::weak:
            return "is too weak (MD5, DES, SHA-1, plain text); htpasswd -B makes a good hash";
        case HashFault::unknown:
            return "is none of bcrypt, yescrypt, SHA-512 or SHA-256";
        case HashFault::cut_off:
            return "is cut off, or too long";
        case HashFault::too_costly:
            return "is a hash that takes many seconds to check (bcrypt above 16, rounds above "
                   "5000000)";
    }
    return {};
}

double check_cost(std::string_view hash) {
    // Of one turn of their loops, measured.
    constexpr double kBcrypt = 52, kYescrypt = 0.1, kSha = 0.42;
    if (hash.starts_with("$2"))
        return std::ldexp(kBcrypt, static_cast<int>(leading_number(hash.substr(4))));
    if (hash.starts_with("$y$"))  // `$y$jNr$`: blocks as a power of 2, and their size
        return std::ldexp(kYescrypt, digit_at(hash, 4) + 1) * (digit_at(hash, 5) + 1);
    const auto rounds = hash.find(kRounds);
    constexpr double kUsualRounds = 5000;
    return kSha * (rounds == std::string_view::npos
                       ? kUsualRounds
                       : leading_number(hash.substr(rounds + kRounds.size())));
}

bool has_hash(const std::string& password, const std::string& hash) {
    const auto data = std::make_unique<crypt_data>();
    const char* const made = ::crypt_r(password.c_str(), hash.c_str(), data.get());
    const auto same =
        made && base::equal_in_constant_time(base::bytes_of(made), base::bytes_of(hash));
    OPENSSL_cleanse(data.get(), sizeof(crypt_data));
    return same;
}

}  // namespace proxy
