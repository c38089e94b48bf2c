#pragma once

#include <boost/system/error_code.hpp>
#include <boost/system/result.hpp>
#include <type_traits>

namespace proxy {

/// A value, or an error: a DiskError or an errno of the system.
template <typename T>
using DiskResult = boost::system::result<T>;

/// Errors in bytes that came from a disk. Each code stands for a case that a caller or a log tells
/// apart.
enum class DiskError {
    no_record = 1,  // other bytes stand where a record should begin
    bad_length,     // a length that exceeds its container, or lengths that contradict
    bad_checksum,   // torn, flipped, or made for another place
    bad_type,       // an unknown kind of record
    cut_off,        // the file ends before it should
    no_footer,      // the segment is unsealed
    never_begun,    // the file is still empty
    too_large,      // exceeds the limits of a record
    other_key,      // the record is of another URI
    in_use,         // another process works with the directory
    foreign,        // the directory has files of other programs
    newer_format,   // written by a later version
    other_secret,   // written by a cluster with another secret: its tags say nothing here
    purged,         // a tombstone covers it
    ending,         // the asked thread ends
};

const boost::system::error_category& disk_error_category() noexcept;

/// An errno as an error code; the last errno of this thread.
boost::system::error_code of_system(int number) noexcept;
boost::system::error_code last_error() noexcept;
bool is_of_system(const boost::system::error_code& error) noexcept;
/// The file system is full, be it by data, files or quota.
bool is_full(const boost::system::error_code& error) noexcept;
/// This process or the machine has too many open files or too little memory. The disk is innocent.
bool is_of_process(const boost::system::error_code& error) noexcept;
/// The directory is gone or read-only.
bool is_gone(const boost::system::error_code& error) noexcept;
/// A device or its file system has failed, whatever the configuration says.
bool is_of_device(const boost::system::error_code& error) noexcept;

inline boost::system::error_code make_error_code(DiskError error) noexcept {
    return {static_cast<int>(error), disk_error_category()};
}

}  // namespace proxy

template <>
struct boost::system::is_error_code_enum<proxy::DiskError> : std::true_type {};
