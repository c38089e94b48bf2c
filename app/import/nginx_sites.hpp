#pragma once

#include "app/import/draft.hpp"
#include "app/import/nginx_rules.hpp"

namespace app {

/// Turns each `server` with `proxy_pass` into entries of `origins` and rules. A server with
/// refusals that hearsay cannot express is left out as a whole, with a warning: by path, by
/// password, by certificate, or for other clients than the first server. So is one at another
/// address or port.
void import_nginx_sites(const NginxScope& outermost, const NginxZones& zones, ImportDraft& draft);

}  // namespace app
