#include "proxy/disk/disk_error.hpp"

#include <cerrno>
#include <string>

namespace proxy {
namespace {

struct Words {
    std::string_view name;
    const char* message;
};

Words words(DiskError error) noexcept {
    switch (error) {
        case DiskError::no_record:
            return {"no_record", "no record begins there"};
        case DiskError::bad_length:
            return {"bad_length", "a length that cannot be"};
        case DiskError::bad_checksum:
            return {"bad_checksum", "checksum does not agree"};
        case DiskError::bad_type:
            return {"bad_type", "a kind of record that is not known"};
        case DiskError::cut_off:
            return {"cut_off", "the file ends too early"};
        case DiskError::no_footer:
            return {"no_footer", "the segment was not sealed"};
        case DiskError::never_begun:
            return {"never_begun", "nothing was written to the file"};
        case DiskError::too_large:
            return {"too_large", "more than a record may hold"};
        case DiskError::other_key:
            return {"other_key", "the record is of another URI"};
        case DiskError::in_use:
            return {"in_use", "another process works with this directory"};
        case DiskError::foreign:
            return {"foreign", "the directory holds files that are not of this cache"};
        case DiskError::newer_format:
            return {"newer_format", "written in a newer format"};
        case DiskError::other_secret:
            return {"other_secret",
                    "written under another cluster key, which is needed to read it: remove its "
                    "files to begin anew"};
        case DiskError::purged:
            return {"purged", "the record was purged"};
        case DiskError::ending:
            return {"ending", "whoever was asked ends"};
    }
    return {"unknown", "unknown error"};
}

// Boost's base class has a protected destructor that is not virtual; nobody deletes categories.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"
class Category final : public boost::system::error_category {
public:
    const char* name() const noexcept override { return "hearsay.disk"; }
    std::string message(int value) const override {
        return words(static_cast<DiskError>(value)).message;
    }
};
#pragma GCC diagnostic pop

}  // namespace

const boost::system::error_category& disk_error_category() noexcept {
    static const Category category;
    return category;
}

std::string_view name(DiskError error) noexcept {
    return words(error).name;
}

bool is_full(const boost::system::error_code& error) noexcept {
    return error.category() == boost::system::system_category() &&
           (error.value() == ENOSPC || error.value() == EDQUOT);
}

bool is_gone(const boost::system::error_code& error) noexcept {
    if (error.category() != boost::system::system_category()) return false;
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
    if (error.category() != boost::system::system_category()) return false;
    switch (error.value()) {
        case EIO:
        case EUCLEAN:  // the file system is damaged
        case ENODEV:
        case ENXIO:
        case ENOTCONN:
        case ESTALE:
        case EROFS:  // to which a damaged one is set
            return true;
        default:
            return false;
    }
}

}  // namespace proxy
