#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <vector>

#include "proxy/blocklists/blocklists.hpp"
#include "proxy/config/config.hpp"

namespace proxy {

inline constexpr std::uint64_t kMaxListEntries = 100'000'000;  // of all lists together
inline constexpr std::size_t kMaxComplaints = 5;               // about malformed lines of a list

/// The lists of a configuration, or why they cannot be used.
struct BlocklistsRead {
    std::shared_ptr<const Blocklists> lists;  // null with errors, and without lists
    std::vector<ConfigError> errors;
    std::vector<ConfigError> warnings;
    bool is_new = false;  // not those of before
};

/// The folder for sorted lists: `forward.blocklist_folder`, or else $TMPDIR, /var/tmp or /tmp, the
/// first of them that this process can write.
std::filesystem::path list_folder(const ForwardConfig& forward);

/// Reads the lists of `forward.blocklists`, and sorts their entries into a file. It takes about a
/// second for two million lines. The lists of `before` are taken again if their files are unchanged
/// and the settings equal. No lists: there is none in the settings, or no forward proxy. A
/// requested stop ends it with an error. Any thread that may wait for a disk.
///
/// A file may be compressed by gzip. A page of HTML, other binary data and damaged gzip are errors;
/// so are an empty file and one of mostly malformed lines where `before` has a good state of it.
/// The caller keeps `before` then, where Blocklists::faults() tells why.
BlocklistsRead read_blocklists(const ForwardConfig& forward,
                               std::shared_ptr<const Blocklists> before = nullptr,
                               const std::stop_token& stop = {});

/// Whether a file has changed since the lists were read.
bool have_changed(const Blocklists& lists);

}  // namespace proxy
