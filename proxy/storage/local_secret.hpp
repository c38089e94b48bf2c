#pragma once

#include <filesystem>

#include "protocol/keys.hpp"

namespace proxy {

/// Under which a node without a cluster key hashes what it stores in this directory, at each of its
/// starts: the bytes of `hearsay.secret` there, which is made of random ones when there is none.
/// Throws std::runtime_error with a sentence for the user when it cannot be read or made, has
/// another length, or when more than its owner and group may read it (what manages volumes gives
/// them to a group).
protocol::HashSecret local_secret(const std::filesystem::path& directory);

}  // namespace proxy
