#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/import/directive.hpp"
#include "app/import/prefix_set.hpp"

namespace app {

using PortRanges = std::vector<std::pair<std::uint16_t, std::uint16_t>>;

/// The condition that one word of an access line (`localnet`, `!Safe_ports`) makes for a request,
/// in terms of the settings.
struct SquidCondition {
    enum class Kind : std::uint8_t {
        always,
        never,
        sources,            // the client's address
        hosts,              // globs for the host of the target
        private_addresses,  // the target is at an address that hearsay refuses by default
        ports,              // the target's port
        connect,            // the method CONNECT
        purge,              // the method PURGE
        manager,            // Squid's own pages
        user,               // a name and a password of a file
        unknown,            // anything else: `why`
    };
    Kind kind = Kind::unknown;
    bool negated = false;
    Networks sources;  // the client's, or private ones of the target
    std::vector<std::string> hosts;
    bool narrower = false, wider = false;  // what `hosts` cover, against what the list says
    std::vector<std::string> list_files;   // of the form dstdomain; `hosts` has their lines, too
    std::vector<std::string> own_hosts;    // without the lines of the files
    PortRanges ports;
    std::string why;  // of `unknown`, and of hosts in a file that cannot be read
};

/// The access lists of a squid.conf, also those that Squid itself defines.
class SquidAcls {
public:
    /// Returns the text of a file that a list names, or nothing.
    using ReadFile = std::function<std::optional<std::string>(const std::string& path)>;

    explicit SquidAcls(ReadFile read) : read_(std::move(read)) {}

    /// Takes an `acl` line. Returns why it cannot be read; empty: it can.
    std::string add(const Directive& acl);
    /// The file of a `proxy_auth` list is known: such lists ask for a user.
    void allow_users() { has_users_ = true; }

    /// `word`: the name of a list, perhaps after `!`.
    SquidCondition condition(std::string_view word) const;

private:
    struct List {
        std::string type;
        std::vector<std::string> values;      // of the lines
        std::vector<std::string> from_files;  // of the files
        std::vector<std::string> files;
        bool unreadable = false;  // one of the files
        bool ignores_case = false;
    };
    static SquidCondition of_builtin(std::string_view name);
    SquidCondition of_list(const std::string& name, const List& list) const;

    ReadFile read_;
    std::map<std::string, List, std::less<>> lists_;
    bool has_users_ = false;
};

/// The hosts of a value of dstdomain: `.example.org` covers the domain and all names below.
std::vector<std::string> hosts_of_domain(std::string_view domain);
/// The hosts that both lists cover, as far as entries of one cover entries of the other.
std::vector<std::string> common_hosts(const std::vector<std::string>& a,
                                      const std::vector<std::string>& b);
bool covers_hosts(const std::vector<std::string>& outer, const std::vector<std::string>& inner);

}  // namespace app
