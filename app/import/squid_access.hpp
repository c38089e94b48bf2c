#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/import/draft.hpp"
#include "app/import/squid_acls.hpp"

namespace app {

/// Clients, and the hosts that they may ask for.
struct SquidGrant {
    std::optional<Networks> sources;                // nothing: any
    std::optional<std::vector<std::string>> hosts;  // nothing: any
    bool user = false;                              // only after a password
    const Directive* from = nullptr;
};

/// The rights that `http_access` gives, in the form of the settings: each client has those of one
/// grant, less what is denied to everybody.
struct SquidAccess {
    std::vector<SquidGrant> grants;
    Networks denied_sources;
    std::vector<std::string> denied_hosts;
    std::vector<std::string> blocklists;                      // files of the form dstdomain
    std::optional<std::vector<std::uint16_t>> ports;          // of any target; nothing: all
    std::vector<std::uint16_t> denied_ports;                  // of any target
    std::optional<std::vector<std::uint16_t>> connect_ports;  // nothing: the default
    std::optional<Networks> purge;                            // who may purge
    bool relies_on_private = false;  // private targets are denied, as is the default
};

/// Reads the lines of `http_access` in their order: the first that matches decides, and the
/// opposite of the last one holds for the rest. The result never permits more than the lines do: a
/// grant that cannot be expressed is left out, and a denial that cannot be expressed ends the list
/// as `deny all`. `draft` gets a warning for both.
SquidAccess read_squid_access(const std::vector<const Directive*>& lines, const SquidAcls& acls,
                              ImportDraft& draft);

/// One grant that all of `grants` together cover, so that settings which hold for every client can
/// express it. Nothing if there is no grant. `draft` gets a warning for each loss.
std::optional<SquidGrant> single_grant(std::vector<SquidGrant> grants, ImportDraft& draft);

}  // namespace app
