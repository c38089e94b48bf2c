#include "app/import/squid_acls.hpp"

#include <algorithm>
#include <charconv>

#include "app/import/regex_globs.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/glob.hpp"

namespace app {
namespace {

using Kind = SquidCondition::Kind;

SquidCondition unknown_condition(std::string why) {
    SquidCondition out;
    out.why = std::move(why);
    return out;
}

SquidCondition simple_condition(Kind kind) {
    SquidCondition out;
    out.kind = kind;
    return out;
}

/// The reason against a type of list, with what to do instead.
std::string reason_against(const std::string& type) {
    constexpr struct {
        std::string_view type, why;
    } kReasons[] = {
        {"time", "hearsay has no rule by time of day; let a timer change the file and reload"},
        {"browser", "hearsay has no rule by User-Agent, which clients choose themselves"},
        {"referer_regex", "hearsay has no rule by Referer, which clients choose themselves"},
        {"req_header", "hearsay has no rule by a field of the request"},
        {"rep_header", "hearsay has no rule by a field of the response"},
        {"req_mime_type", "hearsay has no rule by the type of a request body"},
        {"rep_mime_type", "hearsay has no rule by the type of a response"},
        {"url_regex",
         "hearsay compares no URLs; put domains and URLs in a list for "
         "forward.blocklists (format urls)"},
        {"urlpath_regex",
         "hearsay compares no paths for access; list the URLs in "
         "forward.blocklists (format urls)"},
        {"maxconn", "limits.connections_per_address bounds connections, not access"},
        {"max_user_ip", "hearsay does not count the addresses of a user"},
        {"external",
         "hearsay asks no helper program; see forward.blocklists and "
         "forward.authentication"},
        {"ident", "hearsay has no ident; see forward.authentication"},
        {"arp", "hearsay knows clients by IP address, not by MAC address"},
        {"eui64", "hearsay knows clients by IP address, not by MAC address"},
        {"srcdomain", "hearsay does not look up names of clients; list their addresses"},
        {"srcdom_regex", "hearsay does not look up names of clients; list their addresses"},
        {"proxy_auth_regex", "hearsay has no rule by the name of a user"},
        {"ssl::server_name", "hearsay does not open TLS; use dstdomain, which covers CONNECT"},
        {"myportname", "hearsay has one listener; run one node per port"},
        {"localport", "hearsay has one listener; run one node per port"},
        {"myport", "hearsay has one listener; run one node per port"},
        {"localip", "hearsay has one listener; run one node per address"},
        {"myip", "hearsay has one listener; run one node per address"}};
    for (const auto& each : kReasons)
        if (each.type == type) return std::string(each.why);
    return "hearsay has no rule for acl type " + type;
}

SquidCondition of_sources(const std::vector<std::string>& values) {
    auto out = simple_condition(Kind::sources);
    for (const auto& value : values) {
        const auto networks = parse_networks(value);
        if (!networks)
            return unknown_condition(value + " is no address: list the addresses of the host");
        out.sources.insert(out.sources.end(), networks->begin(), networks->end());
    }
    return covers_all(out.sources, all_networks()) ? simple_condition(Kind::always) : out;
}

SquidCondition of_addresses(const std::vector<std::string>& values) {
    auto out = simple_condition(Kind::private_addresses);
    for (const auto& value : values) {
        const auto networks = parse_networks(value);
        if (networks && covers_all(*networks, all_networks()))
            return simple_condition(Kind::always);
        if (!networks || !std::all_of(networks->begin(), networks->end(), is_private))
            return unknown_condition("hearsay judges public targets by host, not by address (" +
                                     value + "); use dstdomain");
        out.sources.insert(out.sources.end(), networks->begin(), networks->end());
    }
    return out;
}

SquidCondition of_domains(const std::vector<std::string>& values) {
    auto out = simple_condition(Kind::hosts);
    for (const auto& value : values) {
        auto hosts = hosts_of_domain(value);
        out.hosts.insert(out.hosts.end(), hosts.begin(), hosts.end());
    }
    return out;
}

SquidCondition of_domain_regexes(const std::vector<std::string>& values) {
    auto out = simple_condition(Kind::hosts);
    for (const auto& value : values) {
        std::string lower;
        proxy::append_lower(lower, value);
        const auto read = globs_of_regex(lower);
        if (!read)
            return unknown_condition("hearsay has globs, which cannot say " + value +
                                     "; list the hosts with dstdomain");
        out.hosts.insert(out.hosts.end(), read->globs.begin(), read->globs.end());
        out.narrower = out.narrower || read->narrower;
        out.wider = out.wider || read->wider;
    }
    return out;
}

SquidCondition of_ports(const std::vector<std::string>& values) {
    auto out = simple_condition(Kind::ports);
    for (const auto& value : values) {
        std::uint16_t low = 0, high = 0;
        const auto dash = value.find('-');
        const auto first = std::string_view(value).substr(0, dash);
        const auto last =
            dash == std::string::npos ? first : std::string_view(value).substr(dash + 1);
        const auto read = [](std::string_view text, std::uint16_t& port) {
            const auto* const end = text.data() + text.size();
            const auto [stop, error] = std::from_chars(text.data(), end, port);
            return error == std::errc() && stop == end;
        };
        if (!read(first, low) || !read(last, high) || low > high)
            return unknown_condition(value + " is no port");
        out.ports.emplace_back(low, high);
    }
    return out;
}

SquidCondition of_methods(const std::vector<std::string>& values) {
    if (values.size() == 1 && values[0] == "CONNECT") return simple_condition(Kind::connect);
    if (values.size() == 1 && values[0] == "PURGE") return simple_condition(Kind::purge);
    return unknown_condition("hearsay has no rule for methods except CONNECT and PURGE");
}

/// hearsay serves http alone, and CONNECT.
SquidCondition of_protocols(const std::vector<std::string>& values) {
    bool http = false, https = false, manager = false;
    for (const auto& value : values) {
        http = http || proxy::iequals(value, "http");
        https = https || proxy::iequals(value, "https");
        manager = manager || proxy::iequals(value, "cache_object");
    }
    if (http && https) return simple_condition(Kind::always);
    if (http || https) return unknown_condition("hearsay has no rule by protocol");
    return simple_condition(manager ? Kind::manager : Kind::never);
}

}  // namespace

std::vector<std::string> hosts_of_domain(std::string_view domain) {
    std::string lower;
    proxy::append_lower(lower, domain);
    if (lower.find(':') != std::string::npos && !lower.starts_with('[')) lower = "[" + lower + "]";
    // No request names a host in other bytes.
    if (lower.empty() || std::any_of(lower.begin(), lower.end(), [](char c) {
            return c <= ' ' || c >= '\x7f' ||
                   std::string_view("/?#@%*").find(c) != std::string::npos;
        }))
        return {};
    while (lower.size() > 1 && lower.ends_with('.')) lower.pop_back();
    if (!lower.starts_with('.')) return {lower};
    return {lower.substr(1), "*" + lower};
}

bool covers_hosts(const std::vector<std::string>& outer, const std::vector<std::string>& inner) {
    return std::all_of(inner.begin(), inner.end(), [&](const std::string& one) {
        return std::any_of(outer.begin(), outer.end(), [&](const std::string& other) {
            return proxy::Glob(other).matches(one);
        });
    });
}

std::vector<std::string> common_hosts(const std::vector<std::string>& a,
                                      const std::vector<std::string>& b) {
    std::vector<std::string> out;
    for (const auto* from : {&a, &b})
        for (const auto& host : *from)
            if (covers_hosts(from == &a ? b : a, {host}) &&
                std::find(out.begin(), out.end(), host) == out.end())
                out.push_back(host);
    return out;
}

std::string SquidAcls::add(const Directive& acl) {
    if (acl.words.size() < 2) return "needs a name and a type";
    auto& list = lists_[std::string(acl.word(0))];
    if (!list.type.empty() && list.type != acl.word(1)) {
        list.type = "mixed";
        return "has another type than the list of this name before";
    }
    list.type = acl.word(1);
    for (std::size_t i = 2; i < acl.words.size(); ++i) {
        const auto& word = acl.words[i];
        auto file = word.quoted ? word.text : std::string();
        if (word.text.starts_with("parameters(\"") && word.text.ends_with("\")"))
            file = word.text.substr(12, word.text.size() - 14);
        if (file.empty()) {
            if (word.text == "-i") list.ignores_case = true;
            if (!word.text.starts_with('-') && word.text != "+i") list.values.push_back(word.text);
            continue;
        }
        list.files.push_back(file);
        const auto text = read_(file);
        if (!text) {
            list.unreadable = true;
            continue;
        }
        std::string_view rest = *text;
        while (!rest.empty()) {
            auto line = rest.substr(0, rest.find('\n'));
            rest.remove_prefix(std::min(rest.size(), line.size() + 1));
            line = proxy::trim(line.substr(0, line.find('#')));
            if (line.ends_with('\r')) line.remove_suffix(1);
            if (!line.empty()) list.from_files.emplace_back(line);
        }
    }
    return {};
}

SquidCondition SquidAcls::of_builtin(std::string_view name) {
    if (name == "all") return simple_condition(Kind::always);
    if (name == "manager") return simple_condition(Kind::manager);
    if (name == "localhost") return of_sources({"127.0.0.1/32", "::1"});
    if (name == "to_localhost" || name == "to_linklocal")
        return simple_condition(Kind::private_addresses);
    if (name == "CONNECT") return simple_condition(Kind::connect);
    return unknown_condition("the list " + std::string(name) + " is not in the file");
}

SquidCondition SquidAcls::of_list(const std::string& name, const List& list) const {
    const auto& type = list.type;
    auto values = list.values;
    values.insert(values.end(), list.from_files.begin(), list.from_files.end());
    SquidCondition out;
    if (type == "src") {
        out = of_sources(values);
    } else if (type == "dst") {
        out = of_addresses(values);
    } else if (type == "dstdomain") {
        out = of_domains(values);
        out.own_hosts = of_domains(list.values).hosts;
        out.list_files = list.files;
    } else if (type == "dstdom_regex") {
        out = of_domain_regexes(values);
    } else if (type == "port") {
        out = of_ports(values);
    } else if (type == "method") {
        out = of_methods(values);
    } else if (type == "proto") {
        out = of_protocols(values);
    } else if (type == "proxy_auth" && has_users_ && list.files.empty() &&
               list.values == std::vector<std::string>{"REQUIRED"}) {
        return simple_condition(Kind::user);
    } else if (type == "proxy_auth") {
        return unknown_condition(has_users_ ? "hearsay lets all users of the file in, or none"
                                            : "hearsay checks passwords of a file alone "
                                              "(auth_param basic with basic_ncsa_auth)");
    } else if (type == "transaction_initiator") {
        return simple_condition(Kind::never);  // requests of Squid itself
    } else if (type == "url_regex" && name == "manager") {
        return simple_condition(Kind::manager);
    } else {
        return unknown_condition(reason_against(type));
    }
    if (list.unreadable && out.list_files.empty())
        return unknown_condition("the file " + list.files.front() + " cannot be read here");
    if (list.unreadable) {
        out.narrower = true;
        out.why = "the file " + list.files.front() + " cannot be read here";
    }
    if (values.empty() && !list.unreadable) return simple_condition(Kind::never);
    return out;
}

SquidCondition SquidAcls::condition(std::string_view word) const {
    const bool negated = word.starts_with('!');
    if (negated) word.remove_prefix(1);
    const auto found = lists_.find(word);
    auto out = found == lists_.end() ? of_builtin(word) : of_list(found->first, found->second);
    out.negated = negated;
    if (negated && (out.kind == Kind::always || out.kind == Kind::never)) {
        out.kind = out.kind == Kind::always ? Kind::never : Kind::always;
        out.negated = false;
    }
    return out;
}

}  // namespace app
