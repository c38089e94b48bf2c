#pragma once

#include <boost/system/error_code.hpp>
#include <cstddef>
#include <optional>

#include "protocol/membership/peering_config.hpp"

namespace protocol {

// Encryption of links: how a node dials, and which connections it takes. Pure decisions by the
// settings and by the experience with a place.

/// Returns why this node refuses a link that came so, or no error.
boost::system::error_code judge_encryption(const ClusterSecurity& settings, bool encrypted);

/// How this node dials one place. A node with two cluster keys offers the other one after the place
/// has refused the first. With `allow_clear` it dials in the clear once it has proof that the node
/// there does not encrypt, and encrypted again afterwards. The proof is a refusal, which comes
/// through TLS under the cluster key, or the link of that node, which has proved itself and has
/// come in the clear. A connection that fails proves nothing: anybody on the way can cut it. One
/// thread.
class DialSecurity {
public:
    /// `settings` outlives this.
    explicit DialSecurity(const ClusterSecurity& settings)
        : settings_(settings), key_(settings.keys.empty() ? 0 : settings.keys.size() - 1) {}

    /// The key that the next connection offers; nullopt: the connection is in the clear.
    std::optional<std::size_t> key() const;
    /// The last connection ended for this reason. `was_up`: its link had come up.
    /// `comes_in_the_clear`: the node that is expected there has a link to this one in the clear.
    void ended(const boost::system::error_code& why, bool was_up, bool comes_in_the_clear);

private:
    const ClusterSecurity& settings_;
    std::size_t key_;
    bool clear_next_ = false;
};

}  // namespace protocol
