#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace proxy {

/// Judgement of a hash in a users' file.
enum class HashFault : std::uint8_t {
    none,
    weak,       // a scheme that is broken: MD5, DES, SHA-1, plain text
    unknown,    // no scheme of libcrypt, or one that is not taken here
    cut_off,    // shorter or longer than its scheme has it
    too_costly  // one check would take many seconds
};

/// Judges a hash in the form of crypt(5). Good are bcrypt (`$2y$`, `$2b$`, `$2a$`), yescrypt
/// (`$y$`), SHA-512 (`$6$`) and SHA-256 (`$5$`). Never fails; takes no longer than the text.
HashFault judge_hash(std::string_view hash);
std::string_view to_string(HashFault fault);

/// About the time that one check of a good hash takes, in microseconds of a usual processor. Right
/// enough to find the costliest of several hashes.
double check_cost(std::string_view hash);

/// Whether the password has this hash, by libcrypt. Takes 2 to 300 ms of a processor with usual
/// hashes, and up to 16 MB of memory for yescrypt. Any thread. False for a hash that libcrypt
/// refuses.
bool has_hash(const std::string& password, const std::string& hash);

}  // namespace proxy
