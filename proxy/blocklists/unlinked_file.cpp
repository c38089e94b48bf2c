#include "proxy/blocklists/unlinked_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
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
    if (fd_ < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) fd_ = open_and_unlink(folder);
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

std::error_code UnlinkedFile::read(std::string& out) const {
    auto at = out.size();
    out.resize(at + bytes_);
    for (std::uint64_t done = 0; done < bytes_;) {
        const auto got = ::pread(fd_, out.data() + at, bytes_ - done, static_cast<off_t>(done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return system_error();
        if (got == 0) return std::make_error_code(std::errc::io_error);
        at += static_cast<std::size_t>(got);
        done += static_cast<std::uint64_t>(got);
    }
    return {};
}

FileMapping::~FileMapping() {
    if (!bytes_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

std::error_code FileMapping::map(const UnlinkedFile& file) {
    *this = FileMapping();
    if (file.bytes() == 0) return {};
    auto* const begin = ::mmap(nullptr, file.bytes(), PROT_READ, MAP_SHARED, file.descriptor(), 0);
    if (begin == MAP_FAILED) return system_error();
    bytes_ = {static_cast<const char*>(begin), file.bytes()};
    ::madvise(begin, file.bytes(), MADV_RANDOM);  // one page for one look-up
    return {};
}

void FileMapping::release() const {
    if (!bytes_.empty()) ::madvise(const_cast<char*>(bytes_.data()), bytes_.size(), MADV_DONTNEED);
}

}  // namespace proxy
