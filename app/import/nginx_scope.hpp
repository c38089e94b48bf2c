#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/import/directive.hpp"
#include "app/import/prefix_set.hpp"

namespace app {

/// The blocks around a place in a configuration of nginx, the outermost first. It views directives
/// that outlive it.
class NginxScope {
public:
    using Block = std::vector<const Directive*>;

    explicit NginxScope(Block outermost) : levels_{std::move(outermost)} {}
    /// The scope inside of `block`.
    NginxScope inside(const Directive& block) const;

    /// The directives of this name at the innermost level that has any: nginx inherits them so.
    Block nearest(std::string_view name) const;
    /// Those of the innermost level that has any of the names, in their order.
    Block nearest_of(const std::vector<std::string_view>& names) const;
    /// The first word of the nearest directive, or nothing.
    std::string_view word(std::string_view name) const;
    const Block& innermost() const { return levels_.back(); }
    /// `text` with the variables of `set` replaced, as far as their values are fixed.
    std::string replaced(std::string_view text) const;

private:
    std::vector<Block> levels_;
};

/// One `location` of a server, also of those inside of others.
struct NginxLocation {
    enum class Kind : std::uint8_t { prefix, strong_prefix, exact, regex, regex_any_case, named };
    Kind kind = Kind::prefix;
    std::string text;  // the path, the expression or the name
    const Directive* directive = nullptr;
    NginxScope scope;
};
std::vector<NginxLocation> locations_of(const NginxScope& server);

/// The clients that `allow` and `deny` name, as clients.allow and clients.deny.
struct NginxAccess {
    std::optional<Networks> allowed;  // nothing: everybody
    Networks denied;
    bool refuses_all = false;
    bool is_exact = true;  // false: a line cannot be read, or an exception is lost

    bool operator==(const NginxAccess&) const = default;
};
NginxAccess access_of(const NginxScope& scope);

/// `http://name:port/path` of `proxy_pass`.
struct NginxTarget {
    bool tls = false;
    std::string server;               // host or name of an upstream, with the port if there is one
    std::optional<std::string> path;  // nothing: the request's own
};
/// Nothing if it has variables, names a socket of UNIX or is no URL.
std::optional<NginxTarget> target_of(const NginxScope& scope);

}  // namespace app
