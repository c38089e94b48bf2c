#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/import/draft.hpp"
#include "app/import/squid_acls.hpp"

namespace app {

/// One `cache_peer`.
struct SquidPeer {
    const Directive* line = nullptr;
    std::string name, url;
    std::string login;    // `name:password@` of a parent
    bool origin = false;  // originserver
    bool usable = false;  // a setting can name it
    std::uint64_t weight = 1;
    bool verify = true;  // its certificate
    std::string ca, tls_name;
    std::string balance;             // the setting's word; empty: none is given
    std::vector<std::string> hosts;  // that it is for; empty: all
};

/// The peers, with the hosts of cache_peer_access and cache_peer_domain. Siblings are listed and
/// left out. A peer that an access line restricts in another way is not usable.
std::vector<SquidPeer> read_squid_peers(const std::vector<const Directive*>& lines,
                                        const std::vector<const Directive*>& access,
                                        const SquidAcls& acls, ImportDraft& draft);

/// `url`, or `upstreams` with `balance`, of an entry of `origins`, and its `tls`.
ImportDraft::Json squid_origin(const std::string& host, std::vector<const SquidPeer*> peers);

}  // namespace app
