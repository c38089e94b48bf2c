#include "proxy/disk/disk_error.hpp"

#include <cerrno>
#include <string>

namespace proxy {
namespace {

const char* words(DiskError error) noexcept {
    switch (error) {
        case DiskError::no_record:
            return "no record begins there";
        case DiskError::bad_length:
            return "an impossible length";
        case DiskError::bad_checksum:
            return "checksum does not agree";
        case DiskError::bad_type:
            return "an unknown kind of record";
        case DiskError::cut_off:
            return "the file ends too early";
        case DiskError::no_footer:
            return "the segment was not sealed";
        case DiskError::never_begun:
            return "nothing was written to the file";
        case DiskError::too_large:
            return "too large for a record";
        case DiskError::other_key:
            return "the record is of another URI";
        case DiskError::in_use:
            return "another process works with this directory";
        case DiskError::foreign:
            return "the directory has files of other programs";
        case DiskError::newer_format:
            return "written in a newer format";
        case DiskError::other_secret:
            return "written under another cluster key: restore that key, or remove its files to "
                   "start anew";
        case DiskError::purged:
            return "the record was purged";
        case DiskError::ending:
            return "the disk tier is ending";
    }
    return "unknown error";
}

// Boost's base class has a protected destructor that is not virtual; categories live for ever.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"
class Category final : public boost::system::error_category {
public:
    const char* name() const noexcept override { return "hearsay.disk"; }
    std::string message(int value) const override { return words(static_cast<DiskError>(value)); }
};
#pragma GCC diagnostic pop

}  // namespace

const boost::system::error_category& disk_error_category() noexcept {
    static const Category category;
    return category;
}

boost::system::error_code of_system(int number) noexcept {
    return {number, boost::system::system_category()};
}

boost::system::error_code last_error() noexcept {
    return of_system(errno);
}

bool is_of_system(const boost::system::error_code& error) noexcept {
    return error.category() == boost::system::system_category();
}

bool is_full(const boost::system::error_code& error) noexcept {
    return is_of_system(error) && (error.value() == ENOSPC || error.value() == EDQUOT);
}

bool is_of_process(const boost::system::error_code& error) noexcept {
    return is_of_system(error) &&
           (error.value() == EMFILE || error.value() == ENFILE || error.value() == ENOMEM);
}

bool is_gone(const boost::system::error_code& error) noexcept {
    if (!is_of_system(error)) return false;
    switch (error.value()) {
        case ENOENT:
        case ENOTDIR:
        case ENODEV:
        case ENXIO:
        case ENOTCONN:  // a file system of a process that ended
        case ESTALE:
        case EROFS:
            return true;
        default:
            return false;
    }
}

bool is_of_device(const boost::system::error_code& error) noexcept {
    if (error == DiskError::bad_checksum) return true;
    if (!is_of_system(error)) return false;
    switch (error.value()) {
        case EIO:
        case EUCLEAN:  // the file system is damaged
            return true;
        case ENOENT:  // it was never made
        case ENOTDIR:
            return false;
        default:
            return is_gone(error);  // EROFS, too: a damaged file system is set to it
    }
}

}  // namespace proxy
