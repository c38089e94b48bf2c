#pragma once

#include <filesystem>
#include <span>

#include "protocol/wire/keys.hpp"

namespace proxy {

/// The hash secret of a node outside a cluster, the same at each start: the bytes of
/// `hearsay.secret` in these directories. If all directories lack the file, it is made of random
/// bytes. A directory that lacks it gets a copy, as its disk is new. A directory whose device has
/// failed is left out if another one has the file.
///
/// Throws std::runtime_error with a sentence for the user: the file is unreadable, has another
/// length, differs between two directories, or others than its owner and its group may read it.
/// (Volume managers give it to a group.) Precondition: there is a directory.
protocol::HashSecret local_secret(std::span<const std::filesystem::path> directories);

/// Restores `hearsay.secret` in a directory that was emptied while the node runs, so that the next
/// start finds the secret of its content. Any thread. Throws like local_secret(), and also if the
/// directory has another secret.
void restore_local_secret(const std::filesystem::path& directory,
                          const protocol::HashSecret& secret);

}  // namespace proxy
