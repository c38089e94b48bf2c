#include "app/import/squid_access.hpp"

#include <algorithm>

namespace app {
namespace {

using Kind = SquidCondition::Kind;

constexpr int kMostPortsOfRange = 64;
constexpr std::size_t kMostDeniedPorts = 256;

template <class List>
void append_new(List& to, const List& from) {
    for (const auto& each : from)
        if (std::find(to.begin(), to.end(), each) == to.end()) to.push_back(each);
}

class AccessReader {
public:
    AccessReader(const SquidAcls& acls, ImportDraft& draft) : acls_(acls), draft_(draft) {}

    SquidAccess run(const std::vector<const Directive*>& lines) {
        bool last_denies = false;
        for (const auto* line : lines) {
            if (ended_) {
                draft_.needs_nothing(*line);  // never reached
                continue;
            }
            if (line->words.size() < 2) {
                draft_.leave_out(*line, "names no list; Squid skips it, too");
                continue;
            }
            const auto action = line->word(0);
            last_denies = action == "deny";
            if (action != "allow" && action != "deny")
                end_with(*line, "is neither allow nor deny");
            else
                read(*line, last_denies);
        }
        if (!ended_ && last_denies) {
            auto grant = limits_;
            grant.from = lines.back();
            out_.grants.push_back(std::move(grant));
        }
        finish_ports();
        return std::move(out_);
    }

private:
    static const char* name_of(Kind kind) {
        if (kind == Kind::hosts) return "the hosts";
        if (kind == Kind::sources) return "the clients";
        return kind == Kind::user ? "passwords" : "methods";
    }

    /// A denial also holds for what earlier lines permit, because the settings have no order.
    void for_all(const Directive& line) {
        if (!out_.grants.empty())
            draft_.leave_out(line,
                             "denials win in hearsay. Closed: this one holds for the clients "
                             "of earlier lines, too");
    }

    void end_with(const Directive& line, const std::string& why) {
        draft_.warn(line, why + ". Closed: this line and all after it permit nothing");
        ended_ = true;
    }

    void read(const Directive& line, bool denies) {
        std::vector<SquidCondition> all;
        for (std::size_t i = 1; i < line.words.size(); ++i) {
            auto one = acls_.condition(line.word(i));
            if (one.kind == Kind::never || (one.kind == Kind::manager && !one.negated))
                return draft_.needs_nothing(line);  // hearsay has an admin port for that
            if (one.kind != Kind::always && one.kind != Kind::manager)
                all.push_back(std::move(one));
        }
        if (denies)
            deny(line, all);
        else
            allow(line, all);
    }

    static const SquidCondition* find(const std::vector<SquidCondition>& all, Kind kind,
                                      bool negated) {
        const auto found = std::find_if(all.begin(), all.end(), [&](const SquidCondition& one) {
            return one.kind == kind && one.negated == negated;
        });
        return found == all.end() ? nullptr : &*found;
    }

    void allow(const Directive& line, const std::vector<SquidCondition>& all) {
        const auto lost = [&](const std::string& why) {
            draft_.warn(line, why + ". Closed: this line permits nothing");
        };
        if (find(all, Kind::purge, false)) return allow_purge(line, all);
        auto grant = limits_;
        grant.from = &line;
        SquidAccess changed = out_;
        std::vector<const SquidCondition*> safe;
        for (const auto& one : all) {
            switch (one.kind) {
                case Kind::sources:
                    if (one.negated)
                        append_new(changed.denied_sources, one.sources);
                    else
                        limit(grant.sources, one.sources);
                    break;
                case Kind::hosts:
                    if (!one.why.empty()) return lost(one.why);
                    if (one.negated ? one.narrower : one.wider)
                        return lost("globs cannot say the hosts exactly; use dstdomain");
                    if (one.negated)
                        append_new(changed.denied_hosts, one.hosts);
                    else
                        limit(grant.hosts, one.hosts);
                    break;
                case Kind::private_addresses:
                    changed.relies_on_private = true;
                    if (one.negated) break;
                    return lost("forward.private_destinations admits addresses for all clients");
                case Kind::user:
                    if (one.negated)
                        return lost("hearsay asks every client for a password, or none");
                    grant.user = true;
                    break;
                case Kind::ports:
                    if (one.negated) return lost("hearsay has no list of refused ports");
                    safe.push_back(&one);
                    break;
                case Kind::connect:
                case Kind::purge:
                    return lost("hearsay cannot permit a method to some clients alone");
                default:
                    return lost(one.why);
            }
        }
        const bool is_plain = changed.denied_hosts.size() == out_.denied_hosts.size() &&
                              changed.denied_sources.size() == out_.denied_sources.size();
        out_ = std::move(changed);
        for (const auto* one : safe) only_ports(line, one->ports);
        if (!safe.empty()) for_all(line);
        if (!is_plain && !out_.grants.empty())
            draft_.leave_out(line,
                             "denials win in hearsay. Closed: the exception of this line holds "
                             "for all clients");
        if (!grant.sources && !grant.hosts && !grant.user && safe.empty() && is_plain)
            ended_ = true;  // nobody gets further
        out_.grants.push_back(std::move(grant));
    }

    void allow_purge(const Directive& line, const std::vector<SquidCondition>& all) {
        std::optional<Networks> from = limits_.sources;
        for (const auto& one : all) {
            if (one.kind == Kind::purge) continue;
            if (one.kind != Kind::sources || one.negated)
                return draft_.warn(line,
                                   "purge.allow has addresses alone. Closed: this line permits "
                                   "nothing");
            limit(from, one.sources);
        }
        if (!out_.purge) out_.purge.emplace();
        append_new(*out_.purge, from.value_or(all_networks()));
    }

    void deny(const Directive& line, const std::vector<SquidCondition>& all) {
        if (all.empty()) {
            ended_ = true;
            return;
        }
        if (find(all, Kind::private_addresses, false)) {
            out_.relies_on_private = true;  // forward.private_destinations denies them
            return;
        }
        if (all.size() == 1 && deny_one(line, all.front())) return;
        if (all.size() == 2 && find(all, Kind::connect, false) && deny_connect(line, all))
            return for_all(line);
        if (find(all, Kind::purge, false)) {
            if (!out_.purge) out_.purge.emplace();
            return;
        }
        // Any of the conditions alone denies more than all of them together.
        for (const auto kind : {Kind::hosts, Kind::sources, Kind::user, Kind::connect})
            for (const bool negated : {false, true})
                if (const auto* one = find(all, kind, negated); one && deny_one(line, *one)) {
                    if (all.size() > 1)
                        draft_.warn(line, "hearsay cannot combine these conditions. Closed: " +
                                              std::string(name_of(kind)) + " alone decide");
                    return;
                }
        std::string why = "hearsay cannot express this denial";
        for (const auto& one : all)
            if (!one.why.empty()) why = one.why;
        end_with(line, why);
    }

    /// False if the settings cannot express the denial of this one condition.
    bool deny_one(const Directive& line, const SquidCondition& one) {
        switch (one.kind) {
            case Kind::sources:
                if (one.negated)
                    limit(limits_.sources, one.sources);
                else
                    append_new(out_.denied_sources, one.sources);
                if (!one.negated) for_all(line);
                return true;
            case Kind::hosts:
                if (one.negated) {
                    if (one.wider || !one.why.empty()) return false;
                    limit(limits_.hosts, one.hosts);
                    return true;
                }
                if (!deny_hosts(one)) return false;
                for_all(line);
                return true;
            case Kind::private_addresses:
                return !one.negated;
            case Kind::user:
                if (one.negated) limits_.user = true;
                return one.negated;
            case Kind::ports:
                if (one.negated)
                    only_ports(line, one.ports);
                else if (!without_ports(one.ports))
                    return false;
                for_all(line);
                return true;
            case Kind::connect:
                if (!one.negated) allow_connect({});
                return !one.negated;
            default:
                return false;
        }
    }

    bool deny_hosts(const SquidCondition& one) {
        const auto is_absolute = [](const std::string& file) { return file.starts_with('/'); };
        if (!one.list_files.empty() &&
            std::all_of(one.list_files.begin(), one.list_files.end(), is_absolute)) {
            append_new(out_.blocklists, one.list_files);
            append_new(out_.denied_hosts, one.own_hosts);
            return true;
        }
        if (one.narrower) return false;
        append_new(out_.denied_hosts, one.hosts);
        return true;
    }

    /// `CONNECT` with one further condition.
    bool deny_connect(const Directive& line, const std::vector<SquidCondition>& all) {
        if (const auto* ports = find(all, Kind::ports, true)) {
            allow_connect(one_by_one(line, ports->ports));
            return true;
        }
        return false;
    }

    /// The ports of short ranges. Long ones are left out, which permits less.
    std::vector<std::uint16_t> one_by_one(const Directive& line, const PortRanges& ranges) {
        std::vector<std::uint16_t> listed;
        for (const auto& [low, high] : ranges) {
            if (high - low >= kMostPortsOfRange) {
                draft_.leave_out(line, "ports are listed one by one. Closed: the range " +
                                           std::to_string(low) + "-" + std::to_string(high) +
                                           " is left out; add the ports that you need, such as "
                                           "*:8080 in forward.destinations.allow");
                continue;
            }
            for (unsigned port = low; port <= high; ++port)
                listed.push_back(static_cast<std::uint16_t>(port));
        }
        return listed;
    }

    static void limit(std::optional<std::vector<std::uint16_t>>& ports,
                      const std::vector<std::uint16_t>& to) {
        if (!ports) {
            ports = to;
            return;
        }
        std::erase_if(*ports, [&](std::uint16_t port) {
            return std::find(to.begin(), to.end(), port) == to.end();
        });
    }

    void allow_connect(const std::vector<std::uint16_t>& ports) {
        limit(out_.connect_ports, ports);
    }

    /// Only these ports are permitted, with and without CONNECT.
    void only_ports(const Directive& line, const PortRanges& ranges) {
        limit(out_.ports, one_by_one(line, ranges));
    }

    /// False if they are too many to list.
    bool without_ports(const PortRanges& ranges) {
        for (const auto& [low, high] : ranges) {
            if (high - low + 1 + static_cast<int>(out_.denied_ports.size()) >
                static_cast<int>(kMostDeniedPorts))
                return false;
            for (unsigned port = low; port <= high; ++port)
                out_.denied_ports.push_back(static_cast<std::uint16_t>(port));
        }
        return true;
    }

    void finish_ports() {
        if (!out_.ports && out_.denied_ports.empty() && !out_.connect_ports) return;
        if (!out_.connect_ports) out_.connect_ports = std::vector<std::uint16_t>{443};
        if (out_.ports) limit(out_.connect_ports, *out_.ports);
        std::erase_if(*out_.connect_ports, [&](std::uint16_t port) {
            return std::find(out_.denied_ports.begin(), out_.denied_ports.end(), port) !=
                   out_.denied_ports.end();
        });
    }

    static void limit(std::optional<Networks>& sources, const Networks& to) {
        sources = sources ? intersection(*sources, to) : to;
    }
    static void limit(std::optional<std::vector<std::string>>& hosts,
                      const std::vector<std::string>& to) {
        hosts = hosts ? common_hosts(*hosts, to) : to;
    }

    const SquidAcls& acls_;
    ImportDraft& draft_;
    SquidAccess out_;
    SquidGrant limits_;  // what the denials so far leave
    bool ended_ = false;
};

bool same_hosts(const SquidGrant& a, const SquidGrant& b) {
    if (!a.hosts || !b.hosts) return !a.hosts && !b.hosts;
    return covers_hosts(*a.hosts, *b.hosts) && covers_hosts(*b.hosts, *a.hosts);
}

bool same_sources(const SquidGrant& a, const SquidGrant& b) {
    if (!a.sources || !b.sources) return !a.sources && !b.sources;
    return covers_all(*a.sources, *b.sources) && covers_all(*b.sources, *a.sources);
}

/// Every request that `inner` permits, `outer` permits, too.
bool contains_grant(const SquidGrant& outer, const SquidGrant& inner) {
    const auto sources =
        !outer.sources || (inner.sources && covers_all(*outer.sources, *inner.sources));
    const auto hosts = !outer.hosts || (inner.hosts && covers_hosts(*outer.hosts, *inner.hosts));
    return sources && hosts && (!outer.user || inner.user);
}

/// Joins two grants if one grant says exactly the same.
bool join_grants(SquidGrant& into, const SquidGrant& other) {
    if (contains_grant(into, other)) return true;
    if (contains_grant(other, into)) {
        into = other;
        return true;
    }
    if (into.user != other.user) return false;
    if (same_hosts(into, other)) {
        append_new(*into.sources, *other.sources);
        return true;
    }
    if (same_sources(into, other)) {
        append_new(*into.hosts, *other.hosts);
        return true;
    }
    return false;
}

}  // namespace

SquidAccess read_squid_access(const std::vector<const Directive*>& lines, const SquidAcls& acls,
                              ImportDraft& draft) {
    return AccessReader(acls, draft).run(lines);
}

std::optional<SquidGrant> single_grant(std::vector<SquidGrant> grants, ImportDraft& draft) {
    std::erase_if(grants, [](const SquidGrant& grant) {
        return (grant.sources && grant.sources->empty()) || (grant.hosts && grant.hosts->empty());
    });
    for (bool joined = true; joined;) {
        joined = false;
        for (std::size_t i = 0; i < grants.size() && !joined; ++i)
            for (std::size_t k = i + 1; k < grants.size() && !joined; ++k)
                if (join_grants(grants[i], grants[k])) {
                    grants.erase(grants.begin() + static_cast<std::ptrdiff_t>(k));
                    joined = true;
                }
    }
    if (grants.empty()) return std::nullopt;
    // Different clients may do different things, which one list of clients cannot say. All of them
    // get what the strictest may; what has nothing in common is left out.
    auto one = grants.front();
    for (std::size_t i = 1; i < grants.size(); ++i) {
        const auto& other = grants[i];
        auto hosts = one.hosts ? one.hosts : other.hosts;
        if (one.hosts && other.hosts) hosts = common_hosts(*one.hosts, *other.hosts);
        if (hosts && hosts->empty()) {
            draft.warn(*other.from,
                       "all clients of a node may ask for the same hosts. Closed: this "
                       "line permits nothing");
            continue;
        }
        draft.warn(*other.from,
                   std::string("all clients of a node have the same rights. Closed: they get what "
                               "both this line and the earlier ones permit") +
                       (one.user != other.user ? ", after a password" : ""));
        if (one.sources && other.sources)
            append_new(*one.sources, *other.sources);
        else
            one.sources.reset();
        one.hosts = std::move(hosts);
        one.user = one.user || other.user;
    }
    return one;
}

}  // namespace app
