#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "proxy/config/config.hpp"

namespace proxy {

inline constexpr std::size_t kMaxUsersFileBytes = 16 << 20;
inline constexpr std::size_t kMaxUsers = 100'000;
inline constexpr std::size_t kMaxUsersLine = 1024;  // bytes

struct PasswordFileRead;

/// The users of the forward proxy with the hashes of their passwords, as a users' file has them.
/// Immutable; any thread.
class PasswordFile {
public:
    /// Null: there is no such user. Lives as long as the file.
    const std::string* hash_of(std::string_view user) const {
        const auto found = hashes_.find(user);
        return found == hashes_.end() ? nullptr : &found->second;
    }
    /// The hash whose check takes longest, by check_cost(): that of the first such line.
    const std::string& costliest_hash() const { return costliest_hash_; }
    std::size_t size() const { return hashes_.size(); }
    bool operator==(const PasswordFile& other) const { return hashes_ == other.hashes_; }

private:
    friend PasswordFileRead parse_users(std::string_view text, const std::string& name);
    struct HashOfName {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const {
            return std::hash<std::string_view>()(text);
        }
    };
    std::unordered_map<std::string, std::string, HashOfName, std::equal_to<>> hashes_;
    std::string costliest_hash_;
};

/// `file` is null if there is an error. A message names file and line, and never shows a hash.
struct PasswordFileRead {
    std::shared_ptr<const PasswordFile> file;
    std::vector<std::string> errors;  // kMaxShownFaults at most
};
inline constexpr std::size_t kMaxShownFaults = 8;

/// Reads lines `user:hash` as htpasswd writes them. A further colon ends the hash. Empty lines and
/// lines that begin with `#` count for nothing. `name`: of the file, for messages.
PasswordFileRead parse_users(std::string_view text, const std::string& name);
/// Reads the file. Blocks on the disk.
PasswordFileRead read_users(const std::string& path);

}  // namespace proxy
