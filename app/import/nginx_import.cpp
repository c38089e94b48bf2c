#include "app/import/import.hpp"
#include "app/import/nginx_settings.hpp"
#include "app/import/nginx_sites.hpp"

namespace app {

void import_nginx(const std::vector<Directive>& directives, ImportDraft& draft) {
    const auto zones = import_nginx_settings(directives, draft);
    // A part of a configuration, such as a file of sites-enabled, has no block `http`.
    NginxScope::Block outermost;
    for (const auto& each : directives) {
        if (each.name != "http") outermost.push_back(&each);
        if (each.name == "http")
            for (const auto& inner : each.block) outermost.push_back(&inner);
    }
    import_nginx_sites(NginxScope(outermost), zones, draft);
}

}  // namespace app
