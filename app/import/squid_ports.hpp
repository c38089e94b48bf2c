#pragma once

#include <string>
#include <vector>

#include "app/import/draft.hpp"

namespace app {

/// The statements of the ports of a squid.conf besides `listen` and `tls`.
struct SquidPorts {
    bool accelerates = false;            // the node serves sites, and forwards nothing
    std::string default_site;            // for requests without a host
    bool asks_for_certificates = false;  // of clients, which no setting can
};

/// Takes the first `http_port` and the first `https_port` that a setting can express, and lists the
/// others.
SquidPorts read_squid_ports(const std::vector<const Directive*>& http,
                            const std::vector<const Directive*>& https, ImportDraft& draft);

}  // namespace app
