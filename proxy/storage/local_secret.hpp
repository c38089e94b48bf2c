#pragma once

#include <filesystem>
#include <span>

#include "protocol/wire/keys.hpp"

namespace proxy {

/// Under which a node without a cluster key hashes what it stores in these directories, at each of
/// its starts: the bytes of `hearsay.secret` in each, which is made of random ones when none of
/// them has it; one that lacks it, as its disk is a new one, is given it by the others, and one
/// whose device has failed is left out where another one has it. Throws
/// std::runtime_error with a sentence for the user when it cannot be read or made, has another
/// length, is another one in two of them, or when more than its owner and group may read it (what
/// manages volumes gives them to a group). Precondition: there is one.
protocol::HashSecret local_secret(std::span<const std::filesystem::path> directories);

/// Gives a directory that was emptied meanwhile its `hearsay.secret` again, so that the next start
/// finds the secret that everything there is written under. Any thread. Throws as local_secret(),
/// also when another secret stands there.
void restore_local_secret(const std::filesystem::path& directory,
                          const protocol::HashSecret& secret);

}  // namespace proxy
