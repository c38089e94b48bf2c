#include "proxy/blocklists/unlinked_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace proxy {
namespace {

std::error_code system_error() {
    return {errno, std::system_category()};
}

/// For file systems without O_TMPFILE.
int open_and_unlink(const std::filesystem::path& folder) {
    auto name = (folder / "hearsay-XXXXXX").string();
    const auto fd = ::mkostemp(name.data(), O_CLOEXEC);
    if (fd >= 0) ::unlink(name.c_str());
    return fd;
}

constexpr unsigned kOwnerOnly = 0600;

}  // namespace

UnlinkedFile::~UnlinkedFile() {
    if (fd_ >= 0) ::close(fd_);
}

std::error_code UnlinkedFile::open(const std::filesystem::path& folder) {
    *this = UnlinkedFile();
    fd_ = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, kOwnerOnly);
    // What lacks O_TMPFILE says so in different words.
    const auto is_unsupported =
        errno == EOPNOTSUPP || errno == EISDIR || errno == ENOSYS || errno == EINVAL;
    if (fd_ < 0 && is_unsupported) fd_ = open_and_unlink(folder);
    return fd_ < 0 ? system_error() : std::error_code();
}

std::error_code UnlinkedFile::append(std::string_view bytes) {
    while (!bytes.empty()) {
        const auto written = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(bytes_));
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return system_error();
        bytes.remove_prefix(static_cast<std::size_t>(written));
        bytes_ += static_cast<std::uint64_t>(written);
    }
    return {};
}

std::error_code UnlinkedFile::read(std::uint64_t at, std::size_t size, std::string& out) const {
    auto to = out.size();
    out.resize(to + size);
    for (std::size_t done = 0; done < size;) {
        const auto got = ::pread(fd_, out.data() + to, size - done, static_cast<off_t>(at + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return system_error();
        if (got == 0) return std::make_error_code(std::errc::io_error);
        to += static_cast<std::size_t>(got);
        done += static_cast<std::size_t>(got);
    }
    return {};
}

}  // namespace proxy
