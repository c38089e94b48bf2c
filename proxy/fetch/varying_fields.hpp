#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "base/memory/recent_map.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/vary.hpp"

namespace proxy {

/// The request fields by which responses of a site vary, as peers have named them: a peer request
/// carries hashes of these alone. A forgotten name costs one more peer request. Any thread.
class VaryingFields {
public:
    static constexpr std::size_t kMostSites = 4096;
    static constexpr std::size_t kMostBytes = 512;  // of the names of one site

    /// Names in lower case, joined by commas. `site`: the authority of its URLs.
    std::string of(std::string_view site) {
        const std::lock_guard lock(access_);
        const auto key = key_of(site);
        return by_site_.find(key) ? by_site_.use(key) : std::string();
    }
    /// Adds `names`, as vary_names() writes them. A name without room is left out.
    void note(std::string_view site, std::string_view names) {
        const std::lock_guard lock(access_);
        auto& known = by_site_.use(key_of(site));
        if (by_site_.size() > kMostSites) by_site_.drop_oldest();
        ListMembers list(names);
        while (const auto name = list.next())
            if (known.size() + name->size() < kMostBytes) add_name(known, *name);
    }

private:
    /// Two sites with one hash share their names.
    static std::size_t key_of(std::string_view site) { return std::hash<std::string_view>()(site); }

    std::mutex access_;
    base::RecentMap<std::size_t, std::string> by_site_;
};

}  // namespace proxy
