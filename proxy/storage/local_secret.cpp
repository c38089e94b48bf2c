#include "proxy/storage/local_secret.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/tls/crypto.hpp"
#include "proxy/disk/disk_error.hpp"
#include "proxy/disk/super_file.hpp"

namespace proxy {
namespace {

using protocol::HashSecret;

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& why) {
    throw std::runtime_error(path.string() + ' ' + why);
}
struct DeviceFailed : std::runtime_error {
    using runtime_error::runtime_error;
};
[[noreturn]] void fail_by_system(const std::filesystem::path& path, const std::string& what) {
    const auto error = last_error();
    const auto text = path.string() + ' ' + what + ": " + error.message();
    if (is_of_device(error)) throw DeviceFailed(text);
    throw std::runtime_error(text);
}

struct File {
    explicit File(int opened) : fd(opened) {}
    ~File() {
        if (fd >= 0) ::close(fd);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    int fd;
};

/// Empty if the file is absent.
std::optional<HashSecret> read(const std::filesystem::path& path) {
    const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (file.fd < 0 && errno == ENOENT) return std::nullopt;
    if (file.fd < 0) fail_by_system(path, "cannot be opened");
    struct stat what {};
    if (::fstat(file.fd, &what) != 0) fail_by_system(path, "cannot be looked at");
    if (!S_ISREG(what.st_mode)) fail(path, "is no file");
    if ((what.st_mode & S_IRWXO) != 0)
        fail(path,
             "can be used by everybody on this machine: chmod 600, or remove it and the "
             "files beside it");
    HashSecret secret;
    if (static_cast<std::size_t>(what.st_size) != secret.size())
        fail(path, "has " + std::to_string(what.st_size) + " bytes, not " +
                       std::to_string(secret.size()) +
                       ": it is not a file of this cache; remove it and the files "
                       "beside it");
    if (::pread(file.fd, secret.data(), secret.size(), 0) != static_cast<ssize_t>(secret.size()))
        fail_by_system(path, "cannot be read");
    return secret;
}

/// Writes the file under another name first, so that it appears complete or is absent.
void make(const std::filesystem::path& path, const HashSecret& secret) {
    std::array<std::byte, 8> name;
    base::random_bytes(name);
    const auto fresh = path.string() + '.' + base::hex(name);
    {
        const File file(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
        if (file.fd < 0) fail_by_system(fresh, "cannot be made");
        const auto written = ::pwrite(file.fd, secret.data(), secret.size(), 0);
        if (written != static_cast<ssize_t>(secret.size()) || ::fsync(file.fd) != 0) {
            const auto error = errno;
            ::unlink(fresh.c_str());
            errno = error;
            fail_by_system(fresh, "cannot be written");
        }
    }
    // The first process wins. On a file system without links, two processes that start at once
    // may each write a secret; only one of them gets the directory.
    const bool linked = ::link(fresh.c_str(), path.c_str()) == 0 || errno == EEXIST;
    if (linked) {
        ::unlink(fresh.c_str());
    } else if (::rename(fresh.c_str(), path.c_str()) != 0) {
        const auto error = errno;
        ::unlink(fresh.c_str());
        errno = error;
        fail_by_system(path, "cannot be made");
    }
}

}  // namespace

HashSecret local_secret(std::span<const std::filesystem::path> directories) {
    std::optional<HashSecret> secret;
    std::filesystem::path from;
    const auto agree = [&](const std::filesystem::path& path) {
        const auto found = read(path);
        if (!found) return false;
        if (secret && *found != *secret)
            fail(path, "is not that of " + from.string() +
                           ": they are of two caches; remove one of them and the files "
                           "beside it");
        secret = found;
        from = path;
        return true;
    };
    std::vector<std::filesystem::path> without;
    std::optional<DeviceFailed> failed;
    for (const auto& directory : directories) {
        const auto path = directory / SuperFile::kSecretName;
        try {
            if (!agree(path)) without.push_back(path);
        } catch (const DeviceFailed& why) {
            failed = why;
        }
    }
    if (!secret && failed) throw DeviceFailed(*failed);  // the failed directory may have the secret
    for (const auto& path : without) {
        const bool is_first = !secret;
        if (is_first) base::random_bytes(secret.emplace());
        try {
            make(path, *secret);
        } catch (const DeviceFailed&) {
            if (is_first) throw;
            continue;
        }
        if (is_first) secret.reset();  // the first directory counts
        if (!agree(path)) fail(path, "goes as soon as it is made");
    }
    return *secret;
}

void restore_local_secret(const std::filesystem::path& directory, const HashSecret& secret) {
    const auto path = directory / SuperFile::kSecretName;
    auto found = read(path);
    if (!found) {
        make(path, secret);
        found = read(path);
    }
    if (found != secret) fail(path, "is not the secret that this node runs under");
}

}  // namespace proxy
