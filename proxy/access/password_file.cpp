#include "proxy/access/password_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "proxy/access/password_hash.hpp"
#include "proxy/http/basic_credentials.hpp"

namespace proxy {
namespace {

/// A hash of no password, for a file without users.
std::string hash_of_nobody() {
    return "$2y$10$" + std::string(53, '.');
}

/// Why a line is no user, if so.
std::string_view fault_of_name(std::string_view user) {
    if (user.empty()) return "has no name in front of its colon";
    if (user.size() > kMaxUserBytes) return "has a name of more than 255 bytes";
    if (std::ranges::any_of(
            user, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }))
        return "has a control character in its name";
    return {};
}

}  // namespace

PasswordFileRead parse_users(std::string_view text, const std::string& name) {
    PasswordFileRead read;
    const auto file = std::make_shared<PasswordFile>();
    std::size_t number = 0;
    double highest = 0;  // cost
    const auto fail = [&](std::string_view why) {
        if (read.errors.size() < kMaxShownFaults)
            read.errors.push_back(name + ", line " + std::to_string(number) + ": the line " +
                                  std::string(why));
    };
    while (!text.empty() && read.errors.size() < kMaxShownFaults) {
        const auto end = text.find('\n');
        auto line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        ++number;
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.empty() || line.starts_with('#')) continue;
        if (line.size() > kMaxUsersLine) {
            fail("has more than 1024 bytes");
            continue;
        }
        const auto colon = line.find(':');
        if (colon == std::string_view::npos) {
            fail("has no colon between a name and a hash");
            continue;
        }
        const auto user = line.substr(0, colon);
        auto hash = line.substr(colon + 1);
        hash = hash.substr(0, hash.find(':'));
        const auto fault = judge_hash(hash);
        if (const auto why = fault_of_name(user); !why.empty())
            fail(why);
        else if (fault != HashFault::none)
            fail("has a hash that " + std::string(to_string(fault)));
        else if (file->hashes_.size() >= kMaxUsers)
            fail("has one user too many: there may be 100000");
        else if (!file->hashes_.emplace(user, hash).second)
            fail("has the name of a line before");
        else if (const auto cost = check_cost(hash); cost > highest) {
            file->costliest_hash_ = hash;
            highest = cost;
        }
    }
    if (file->costliest_hash_.empty()) file->costliest_hash_ = hash_of_nobody();
    if (read.errors.empty()) read.file = file;
    return read;
}

PasswordFileRead read_users(const std::string& path) {
    const auto failed = [&](const std::string& why) {
        return PasswordFileRead{nullptr, {"cannot read " + path + ": " + why}};
    };
    const auto reason = [] { return std::system_category().message(errno); };
    // Of a pipe, an opening without O_NONBLOCK would wait for a writer.
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return failed(reason());
    struct Closed {
        int fd;
        ~Closed() { ::close(fd); }
    } const closed{fd};
    struct stat status {};
    if (::fstat(fd, &status) != 0) return failed(reason());
    if (!S_ISREG(status.st_mode)) return failed("it is no file");
    std::string text;
    for (;;) {
        const auto at = text.size();
        constexpr std::size_t kStep = 256 * 1024;
        text.resize(at + kStep);
        const auto got = ::read(fd, text.data() + at, kStep);
        if (got < 0 && errno == EINTR) {
            text.resize(at);
            continue;
        }
        if (got < 0) return failed(reason());
        text.resize(at + static_cast<std::size_t>(got));
        if (text.size() > kMaxUsersFileBytes) return failed("it is larger than 16MiB");
        if (got == 0) break;
    }
    return parse_users(text, path);
}

}  // namespace proxy
