#pragma once

#include <boost/system/error_code.hpp>
#include <boost/system/result.hpp>
#include <type_traits>

namespace proxy {

/// A value, or why there is none: one of these, or what the system said (errno).
template <typename T>
using DiskResult = boost::system::result<T>;

/// What can be wrong with bytes that came from a disk, one code for each thing worth telling apart.
enum class DiskError {
    no_record = 1,  // other bytes stand where a record should begin
    bad_length,     // a length that leads outside of what holds it, or lengths that contradict
    bad_checksum,   // torn, flipped, or made for another place
    bad_type,       // a kind of record that this version does not know
    cut_off,        // the file ends before it should
    no_footer,      // the segment was not sealed
    never_begun,    // a file was made, and nothing written
    too_large,      // more than a record may hold
    other_key,      // the record is of another URI
    in_use,         // another process works with the directory
    foreign,        // the directory holds what is not of this cache
    newer_format,   // written by a later version
    other_secret,   // written by a cluster with another secret: its tags say nothing here
    purged,         // a tombstone covers it
    ending,         // whoever was asked ends
};

const boost::system::error_category& disk_error_category() noexcept;

/// What the system says: an errno, and the last one of this thread.
boost::system::error_code of_system(int number) noexcept;
boost::system::error_code last_error() noexcept;
bool is_of_system(const boost::system::error_code& error) noexcept;
/// What the system says when there is no room, for whatever reason.
bool is_full(const boost::system::error_code& error) noexcept;
/// What it says when this process, or the machine, has too much open or too little memory: of which
/// no disk is to blame.
bool is_of_process(const boost::system::error_code& error) noexcept;
/// What it says of a directory that is not there any more, or may not be written to.
bool is_gone(const boost::system::error_code& error) noexcept;
/// A device or its file system has failed, which whoever wrote the configuration cannot help.
bool is_of_device(const boost::system::error_code& error) noexcept;

inline boost::system::error_code make_error_code(DiskError error) noexcept {
    return {static_cast<int>(error), disk_error_category()};
}

}  // namespace proxy

template <>
struct boost::system::is_error_code_enum<proxy::DiskError> : std::true_type {};
