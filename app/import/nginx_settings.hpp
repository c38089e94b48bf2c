#pragma once

#include "app/import/draft.hpp"
#include "app/import/nginx_rules.hpp"

namespace app {

/// Takes the settings that hold for the whole node from all blocks: workers, times, the access log,
/// the disk, trusted proxies. Lists the directives that have no setting. Those about sites
/// (nginx_sites.hpp) and rules are left to others. Returns the zones of the cache.
NginxZones import_nginx_settings(const std::vector<Directive>& directives, ImportDraft& draft);

}  // namespace app
