// The table of all settings. CONTRIBUTING.md describes how to add one.
#include "proxy/config/setting.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>

#include "proxy/config/config_destinations.hpp"
#include "proxy/config/config_disk.hpp"
#include "proxy/config/config_origins.hpp"
#include "proxy/config/config_peers.hpp"
#include "proxy/config/config_rules.hpp"
#include "proxy/config/special_settings.hpp"

namespace proxy {
namespace {

using namespace settings;
using namespace std::chrono_literals;

constexpr std::uint64_t kKiB = 1ull << 10, kMiB = 1ull << 20, kGiB = 1ull << 30, kTiB = 1ull << 40;
constexpr std::string_view kPemFile = "path of a PEM file";

constexpr SectionValue kAdmin = [] {
    auto section = optional_section<&Config::admin>();
    section.remove = [](ObjectRef config) { config.as<Config>().admin.reset(); };
    return section;
}();

constexpr std::array<std::string_view, 3> kKindNames{"counting_bloom", "quotient", "cuckoo"};
static_assert(kKindNames.size() == summary::kKinds.size());
constexpr ChoiceValue kSummaryKind{
    [](ConstObjectRef config) {
        const auto& all = summary::kKinds;
        return static_cast<std::size_t>(
            std::find(all.begin(), all.end(), config.as<Config>().summary.kind) - all.begin());
    },
    [](ObjectRef config, std::size_t i) {
        config.as<Config>().summary.kind = summary::kKinds.at(i);
    },
    kKindNames};

/// Shows the limit in effect, which has upper bounds besides.
constexpr SizeValue kSliceFrom{
    [](ConstObjectRef config) { return slice_from(config.as<Config>().cache); },
    set<std::uint64_t, &Config::cache, &CacheConfig::slice_from>, 0, 64 * kTiB};

/// Shows the limit in effect, also where the setting is left out.
constexpr CountValue kPerAddress{
    [](ConstObjectRef config) {
        const auto& limits = config.as<Config>().limits;
        return connections_of_one(limits, limits.connections);
    },
    set<std::uint64_t, &Config::limits, &LimitsConfig::connections_per_address>, 1, 10'000'000};

/// A number of `clients.limits`.
template <auto DirectoryOwner, auto What>
constexpr CountValue limit(std::uint64_t high) {
    return count<&Config::clients, &ClientsConfig::limits, DirectoryOwner, What>(0, high);
}
template <auto DirectoryOwner>
constexpr SizeValue kBandwidth = size<&Config::clients, &ClientsConfig::limits, DirectoryOwner,
                                      &ClientAllowance::bandwidth>(0, kTiB);
constexpr auto kPerClient = &ClientLimits::per_address;
constexpr auto kPerUser = &ClientLimits::per_user;

constexpr std::array kTable{
    Setting{"node", special<read_name, nullptr, &Config::node>("string"),
            "The name must be unique in the cluster and among the proxies that its requests "
            "pass, because `Via` carries it and loops are found by it.",
            false, nullptr, "the host name"}
        .after_restart(),
    Setting{"listen", endpoint<&Config::listen>(),
            "Clients and peer requests arrive here, in HTTP/1.1 or HTTP/2 without TLS.", true}
        .after_restart(),
    Setting{"tls", optional_section<&Config::tls>(),
            "A second listener for clients that speak TLS 1.2 or 1.3."}
        .after_restart(),
    Setting{"tls.listen", endpoint<&Config::tls, &TlsConfig::listen>(), "The TLS listener.", true}
        .after_restart(),
    Setting{"tls.certificate", text<&Config::tls, &TlsConfig::certificate>(kPemFile),
            "PEM file with the server certificate, then the intermediate ones. The node notices a "
            "renewed file and uses it without a reload.",
            false, nullptr, "required without `certificates`"},
    Setting{"tls.key", text<&Config::tls, &TlsConfig::key>(kPemFile),
            "PEM file with the unencrypted private key. `check` warns if every user of the "
            "machine can read it.",
            false, nullptr, "required without `certificates`"},
    Setting{"tls.certificates", list<&Config::tls, &TlsConfig::certificates>(kMaxCertificates),
            "Further certificates. A client gets the one for the name that it asks for (SNI): a "
            "certificate with that name before one with a wildcard, and the first of several. An "
            "RSA and an ECDSA certificate for one name are both offered. A client without a name, "
            "or with an unknown one, gets `tls.certificate`, or else the first of the list.",
            false, check<check_certificates>},
    Setting{"tls.certificates[].certificate", text<&CertificateFiles::certificate>(kPemFile),
            "As `tls.certificate`.", true},
    Setting{"tls.certificates[].key", text<&CertificateFiles::key>(kPemFile), "As `tls.key`.",
            true},
    Setting{"http2", SectionValue{}, "HTTP/2 from clients."},
    Setting{
        "http2.enabled", flag<&Config::protocols, &ProtocolsConfig::http2, &Http2Config::enabled>(),
        "Clients may choose HTTP/2: on the TLS listener in the handshake (ALPN), on `listen` by "
        "its preface. Connections that are open keep their protocol."},
    Setting{"http2.cleartext",
            flag<&Config::protocols, &ProtocolsConfig::http2, &Http2Config::cleartext>(),
            "HTTP/2 on `listen`, which has no TLS, for clients that begin with its preface (prior "
            "knowledge). There is no Upgrade from HTTP/1.1."},
    Setting{
        "http2.streams",
        count<&Config::protocols, &ProtocolsConfig::http2, &Http2Config::streams>(1, kMaxStreams),
        "Requests of one connection at a time. More are refused with REFUSED_STREAM, which "
        "clients repeat. Each may hold a head (`limits.head`) and 16KiB of a request body; a "
        "longer body is charged to `limits.body_windows`."},
    Setting{"workers", count<&Config::workers>(1, kMaxWorkers),
            "Number of worker threads. One per core is a good value. `check` and a start warn "
            "if it exceeds the CPUs of the machine or of the process's control group."}
        .after_restart(),
    Setting{"admin", kAdmin, "`null` means no admin port."}.after_restart(),
    Setting{"admin.listen", endpoint<&Config::admin, &AdminConfig::listen>(),
            "`check` warns about an address beyond loopback without a token."}
        .after_restart(),
    Setting{"admin.token",
            special<read_token, show_token, &Config::admin, &AdminConfig::token>("string"),
            "Guarded routes need it as `Authorization: Bearer`. Without a token they answer "
            "loopback only. Write it as `${NAME}`, because `check` warns about a token in a "
            "file that everybody can read."},
    Setting{"admin.token_for", choice<&Config::admin, &AdminConfig::token_for>(kTokenForNames),
            "With `all`, status, metrics and health need the token, too.", false,
            check<check_token_for>},
    Setting{"admin.names",
            special<read_admin_names, nullptr, &Config::admin, &AdminConfig::names>(
                "list of host names"),
            "Names that `Host` may state besides addresses and `localhost`."},
    Setting{"admin.top_urls", choice<&Config::admin, &AdminConfig::top_urls>(kTopUrlsNames),
            "The list of the most frequent URLs (`/api/v1/top`, guarded): `off`, `without_query`, "
            "or `whole`, as a query may hold secrets."},
    Setting{"admin.top_clients", flag<&Config::admin, &AdminConfig::top_clients>(),
            "The same list has the addresses of the clients with the most requests."},
    Setting{"clients", SectionValue{},
            "Addresses that may send requests, and proxies that speak for others."},
    Setting{"clients.allow", prefixes<&Config::clients, &ClientsConfig::allow>(),
            "Addresses that may send requests. Others get 403."},
    Setting{"clients.deny", prefixes<&Config::clients, &ClientsConfig::deny>(),
            "`deny` wins over `allow`. Peers pass by their token, not by these lists. An "
            "address that may not ask is judged when it connects, unless it is a trusted proxy: "
            "it gets 403 without a read, the connection is closed, and `refusals.client` counts "
            "it. At `tls.listen` it gets no answer. In a cluster, an unknown address may be a "
            "peer; each worker thread keeps up to 64 such connections, and the one that has "
            "waited longest makes room."},
    Setting{"clients.trusted_proxies",
            prefixes<&Config::clients, &ClientsConfig::trusted_proxies>(),
            "Proxies whose statements count. The last address in `X-Forwarded-For` that is not "
            "trusted is the client, for all rules and for the log. If that member is no "
            "address, the client is unknown: it may not forward or purge, and it gets 403 if "
            "`allow` or `deny` restricts anybody. A request with `Via` or `Forwarded` but "
            "without `X-Forwarded-For` may neither forward nor purge. Trusted proxies have no "
            "limit per address."},
    Setting{
        "clients.proxy_protocol", flag<&Config::clients, &ClientsConfig::proxy_protocol>(),
        "Every connection of a trusted proxy begins with a PROXY protocol header, version "
        "1 or 2, also at `tls.listen`. A connection without the header is served as long as each "
        "request proves to be a peer request, and closed without an answer otherwise.",
        false, check<check_proxy_protocol>},
    Setting{"clients.limits", SectionValue{},
            "How much one client, or one user, may use of this node. Peers that prove themselves "
            "have no such limits. See `access.md`."},
    Setting{"clients.limits.per_address", SectionValue{},
            "Limits of an address, or of an IPv6 /64. Behind a trusted proxy they apply to the "
            "client that it names, and a trusted proxy itself has none. "
            "`limits.connections_per_address` limits open connections."},
    Setting{"clients.limits.per_address.requests",
            limit<kPerClient, &ClientAllowance::requests>(1'000'000),
            "Requests per second; a `CONNECT` is one. More get 429 with `Retry-After`. 0: no "
            "limit."},
    Setting{"clients.limits.per_address.burst",
            limit<kPerClient, &ClientAllowance::burst>(10'000'000),
            "Requests at once after a pause. 0: as many as `requests`."},
    Setting{"clients.limits.per_address.connections",
            limit<kPerClient, &ClientAllowance::connections>(10'000'000),
            "Requests and tunnels in progress at a time, over all connections and HTTP/2 streams. "
            "More get 429. Connections that wait for a request do not count. 0: no limit."},
    Setting{"clients.limits.per_address.bandwidth", kBandwidth<kPerClient>,
            "Bytes per second towards the client, of bodies and tunnels, in all its connections "
            "together. The node sends more slowly then; uploads are not slowed down. 0: no limit; "
            "else at least 1KiB.",
            false, check<check_bandwidth>},
    Setting{"clients.limits.per_user", SectionValue{},
            "The same limits of a user of `forward.authentication`, from all addresses together. "
            "Both kinds of limits apply."},
    Setting{"clients.limits.per_user.requests",
            limit<kPerUser, &ClientAllowance::requests>(1'000'000), "As for an address."},
    Setting{"clients.limits.per_user.burst", limit<kPerUser, &ClientAllowance::burst>(10'000'000),
            "As for an address."},
    Setting{"clients.limits.per_user.connections",
            limit<kPerUser, &ClientAllowance::connections>(10'000'000), "As for an address."},
    Setting{"clients.limits.per_user.bandwidth", kBandwidth<kPerUser>, "As for an address.", false,
            check<check_bandwidth>},
    Setting{"forward", SectionValue{}, "A forward proxy for targets that no site matches."},
    Setting{"forward.enabled", flag<&Config::forward, &ForwardConfig::enabled>(),
            "The node is a forward proxy for targets that no site matches. Otherwise a request "
            "in absolute form gets 403, and one in origin form gets 404."},
    Setting{"forward.clients", prefixes<&Config::forward, &ForwardConfig::clients>(),
            "Addresses that may use the forward proxy and tunnels, and that may read content "
            "stored for forward targets. `100.64.0.0/10` is not in the default, because "
            "strangers share it behind a carrier's NAT. Others get 403."},
    Setting{"forward.authentication",
            optional_section<&Config::forward, &ForwardConfig::authentication>(),
            "Clients of the forward proxy prove themselves by name and password (Basic), for each "
            "request and `CONNECT`; others get 407. Requests for sites in `origins` need none, and "
            "peers prove themselves by their token. See `access.md`."},
    Setting{
        "forward.authentication.users",
        text<&Config::forward, &ForwardConfig::authentication, &AuthenticationConfig::users>(
            "absolute path of a users' file"),
        "Lines `user:hash` as `htpasswd -B` writes them. Hashes are bcrypt, yescrypt, SHA-512 or "
        "SHA-256. The node notices a changed file and reads it without a reload. A file "
        "that cannot be read prevents a start; later the former one stays. `check` warns if "
        "every user of the machine can read it.",
        true, check<check_users>},
    Setting{"forward.authentication.realm",
            text<&Config::forward, &ForwardConfig::authentication, &AuthenticationConfig::realm>(
                "text"),
            "The name that a browser shows beside the question for a password.", false,
            check<check_realm>},
    Setting{
        "forward.authentication.in_clear",
        flag<&Config::forward, &ForwardConfig::authentication, &AuthenticationConfig::in_clear>(),
        "Passwords may come over connections in the clear. Otherwise only loopback, whatever "
        "a PROXY header names, and `tls.listen` take them, and others get 403, so that no client "
        "sends a password "
        "that anybody on the way can read."},
    Setting{"forward.destinations", SectionValue{},
            "The hosts that clients of the forward proxy may name, also in `CONNECT`. Others get "
            "403. The rule applies to requests, so stored content is refused, too."},
    Setting{"forward.destinations.allow",
            special<read_patterns, texts_of_patterns, &Config::forward,
                    &ForwardConfig::destinations, &DestinationRules::allow>("list of hosts"),
            "Hosts, in which `*` stands for any text, with a port or without: `*.example`, "
            "`[2001:db8::1]:443`. An empty list allows all."},
    Setting{"forward.destinations.deny",
            special<read_patterns, texts_of_patterns, &Config::forward,
                    &ForwardConfig::destinations, &DestinationRules::deny>("list of hosts"),
            "The same for hosts that are refused. `deny` wins over `allow`."},
    Setting{"forward.connect_ports",
            special<read_ports, nullptr, &Config::forward, &ForwardConfig::connect_ports>(
                "list of ports"),
            "Ports that `CONNECT` may reach. The node cannot read or cache the content of a "
            "tunnel. To cache an https site, list it in `origins` and ask for `http://` through "
            "the node, or use `tls` or `forward.intercept`."},
    Setting{
        "forward.intercept", optional_section<&Config::forward, &ForwardConfig::intercept>(),
        "The node itself answers `CONNECT` for these hosts, with a certificate from your CA, and "
        "reads the requests inside. They get keys, rules and peers as other requests do. All "
        "other hosts are tunnelled untouched. See `intercept.md` for the duties that come with "
        "it."},
    Setting{
        "forward.intercept.hosts",
        special<read_intercepted_hosts, texts_of_patterns, &Config::forward,
                &ForwardConfig::intercept, &InterceptConfig::hosts>("list of hosts"),
        "Names of hosts, in which `*` stands for any text: `pypi.org`, `*.crates.io`. Addresses "
        "are never intercepted. The CA has to be allowed to sign for all of them.",
        true},
    Setting{"forward.intercept.ports",
            special<read_intercepted_ports, nullptr, &Config::forward, &ForwardConfig::intercept,
                    &InterceptConfig::ports>("list of ports"),
            "Ports of these hosts. `forward.connect_ports` has to allow them, too."},
    Setting{"forward.intercept.ca", SectionValue{},
            "The CA that signs the certificates. `hearsay ca create` makes one that can sign for "
            "the listed hosts alone.",
            true},
    Setting{"forward.intercept.ca.certificate",
            text<&Config::forward, &ForwardConfig::intercept, &InterceptConfig::ca,
                 &CertificateFiles::certificate>(kPemFile),
            "The certificate of the CA, with those above it unless it is a root. The node notices "
            "renewed files without a reload. A CA that has expired, or whose name constraints do "
            "not permit the hosts, is an error.",
            true},
    Setting{
        "forward.intercept.ca.key",
        text<&Config::forward, &ForwardConfig::intercept, &InterceptConfig::ca,
             &CertificateFiles::key>(kPemFile),
        "Its key, which only the node should be able to read. `check` warns of a file that every "
        "user of the machine can read.",
        true},
    Setting{"forward.private_destinations",
            special<read_destinations, show_destinations, &Config::forward>(
                "`deny`, `allow` or a list of prefixes"),
            "Forward targets at private and other special addresses. The listeners of the node "
            "and of its peers are refused in every case, also peers that DNS found, and the "
            "node's own ports at peers' addresses. The rule applies to connections: content "
            "that is already stored is still served."},
    Setting{
        "forward.blocklists", list<&Config::forward, &ForwardConfig::blocklists>(kMaxBlocklists),
        "Published lists of targets that clients may not reach; see `blocklists.md`. They apply "
        "to forward targets and to `CONNECT`, before the store is asked, and not to sites in "
        "`origins`. A request of a peer is not judged, because the peer judges its own client. "
        "A list that cannot be read prevents a start; at a reload the former lists stay. The "
        "node notices a changed file and reads it without a reload. Files that are unchanged "
        "are not read again."},
    Setting{"forward.blocklists[].path",
            text<&BlocklistConfig::path>("absolute path", fault_of_path), "The list, as text.",
            true},
    Setting{"forward.blocklists[].format", choice<&BlocklistConfig::format>(kBlocklistFormatNames),
            "`hosts`: lines as in `/etc/hosts` that lead nowhere; each host counts alone. "
            "`domains`: a domain with its subdomains (UT1, squidGuard, e2guardian). `dstdomain`: "
            "the same for a name that begins with a dot, and one host otherwise (Squid). `urls`: a "
            "host and the start of a path, which also count for subdomains of the host. `CONNECT` "
            "shows no path, so a line with a path does not apply to it.",
            true},
    Setting{"forward.blocklists[].action", choice<&BlocklistConfig::action>(kBlocklistActionNames),
            "`refuse` answers 403 with list and line. `log` only counts the request and notes it "
            "in the logs."},
    Setting{"forward.blocklist_folder",
            text<&Config::forward, &ForwardConfig::blocklist_folder>("path of a folder"),
            "Folder for the sorted entries of the lists, in a file without a name that ends with "
            "the process. It takes about 32 bytes per entry, and 32 to 64 more while a list is "
            "read. `check` and a start warn about tmpfs.",
            false, check<check_blocklists>, "`$TMPDIR`, or else `/var/tmp` or `/tmp`"},
    Setting{"forward.parent",
            special<read_parents, show_parents, &Config::forward, &ForwardConfig::parents>(
                "list of URLs"),
            "Proxies that forward requests and `CONNECT` go through: `http://host:port`, "
            "`https://host:port`, or `https://user:password@host:port` for Basic credentials, best "
            "as `${NAME}`. With `https` the node speaks TLS to the proxy and verifies its "
            "certificate by the system's authorities. The first one that is up gets the request. A "
            "request for `http` goes out in absolute form; "
            "`https` and `CONNECT` use a tunnel. The parent resolves names, so "
            "`private_destinations` judges only addresses in the target, and `localhost`. Sites in "
            "`origins` never use a parent."},
    Setting{"forward.no_proxy",
            special<read_no_proxy, show_no_proxy, &Config::forward, &ForwardConfig::no_proxy>(
                "list of hosts, globs and prefixes"),
            "Forward targets that the node reaches without a parent. A prefix is for hosts that "
            "are addresses, because names are not resolved for this.",
            false, check<check_parents>},
    Setting{"forwarded", SectionValue{}, "Statements about the client in requests to origins."},
    Setting{"forwarded.origins",
            choice<&Config::forwarded, &ForwardedConfig::origins>(kForwardedModeNames),
            "The node tells a site about the client in `X-Forwarded-For`, `X-Forwarded-Proto`, "
            "`X-Forwarded-Host` and `Forwarded`. `append` adds this hop to the statements of a "
            "trusted proxy and replaces those of anybody else. `replace` writes all of them "
            "anew. `off` leaves `X-Forwarded-For` and `Forwarded` as they came, except that "
            "`host` and `proto` elements of `Forwarded` are removed. With `off` the origin "
            "reads `X-Forwarded-Proto` and `X-Forwarded-Host` only if a trusted proxy stated "
            "them, and `https` in every case. Scheme and host are part of the key, and origins "
            "are told no others. A trusted proxy states them in `X-Forwarded-Proto` and "
            "`X-Forwarded-Host`, or in `Forwarded` if it sends none of the `X-Forwarded-` "
            "fields; the first member of a list counts. The statement counts for requests in "
            "origin form to a site, unless the mode is `replace`. A stated host counts if a "
            "site matches it; otherwise `Host` counts. `http` and `https` are stored apart on "
            "all nodes, so a redirect to `https` is never given to clients that came by "
            "`https`. `PURGE` and `/api/v1/purge` name such a page by its `https` URL. Give "
            "`origins` the names that clients use, or `*`."},
    Setting{"forwarded.forward",
            choice<&Config::forwarded, &ForwardedConfig::forward>(kForwardedModeNames),
            "The same for forward targets."},
    Setting{"forwarded.via", choice<&Config::forwarded, &ForwardedConfig::via>(kViaModeNames),
            "How the node names itself in `Via` of requests to origins. `pseudonym` hides its name "
            "behind a hash of it. `off` leaves the node out, so that origins which do not compress "
            "for proxies compress again (nginx without `gzip_proxied any`); a loop through the "
            "node is then cut by a time limit only. Parent proxies read `Via` in every case. "
            "`Via` of clients passes on."},
    Setting{"forwarded.drop",
            special<read_dropped, nullptr, &Config::forwarded, &ForwardedConfig::drop>(
                "list of field names"),
            "Fields that the node removes from each GET and HEAD to a site. Some origins let "
            "these fields choose the resource, so other clients would get the wrong response. "
            "The node removes them from requests of trusted proxies, too, because proxies pass "
            "on the fields of their clients. Leave a field out of the list only if your proxy "
            "sets it in every request. Other methods keep them. Use `[]` only if the origin "
            "ignores these fields or names them in `Vary`. A `Connection` field cannot remove "
            "the forwarding fields."},
    Setting{"upgrade",
            special<read_upgrade, nullptr, &Config::protocols, &ProtocolsConfig::upgrade>(
                "list of names"),
            "Protocols that a client and an origin may switch to with `Upgrade`, for sites and "
            "for forwarded requests. `[]` refuses WebSockets with 403; other protocols that are "
            "not listed are left out of the request. Most clients with a configured proxy use "
            "`CONNECT` for WebSockets, even for `ws:`; then port 80 must be in "
            "`forward.connect_ports`."},
    Setting{
        "origins", special<read_origins, origins_json, &Config::origins>("list"),
        "The first entry that matches host and path decides, in every form of request. A request "
        "that no entry matches goes to its target if `forward` is enabled."},
    Setting{"origins[].host", ElementValue{"string"},
            "Host of the target without a port, `*.example.org` for all names below "
            "`example.org`, or `*` for every host. IPv6 addresses compare "
            "as addresses, and a final dot does not matter. Each spelling still has a key of "
            "its own. An HTTP/1.0 request without `Host` goes to the first entry for `*`.",
            true},
    Setting{"origins[].path", ElementValue{"string"},
            "Begin of the target's path. `/api/` covers all below it, `/api` also itself. Paths "
            "compare in the form of `rules`, and reach the server unchanged.",
            false, nullptr, "every path"},
    Setting{"origins[].url", ElementValue{"string"},
            "Server of the site, with a path only if there is a `public`; either `url` or "
            "`upstreams` is required. The node uses a kept "
            "connection only while the name still has "
            "its address, so it follows DNS when the TTL (1 s to 1 h) is over. The first "
            "request after that starts a look-up in the background. Running requests and "
            "tunnels keep their connection. If the origin closes a kept connection at the "
            "moment of a request, safe methods, `PUT` and `DELETE` are sent once more, with up "
            "to 64 KiB of a body. Other methods use a connection that was in use within the "
            "last second, or a new one. They are sent again only with proof that the origin "
            "read nothing; otherwise the client gets 502. An answer before the end of the "
            "request body closes the connection. After three connections that the origin did "
            "not take, one request in one to three seconds tries again. If an origin's parts do "
            "not fit together twice, the node takes bodies of that directory in one piece for "
            "ten minutes. If the origin refuses a part (401, 403, 404, 410), the same holds for "
            "that one path. Requests with `Authorization` or `Cookie` teach the node no "
            "refusal."},
    Setting{"origins[].upstreams", ElementValue{"list of objects"},
            "Servers with the same content, at most 64, in place of `url`; see `upstreams.md`. All "
            "are http or all are https, with one `tls`. A server that fails three requests in a "
            "row (no connection, a reset or silence before a response) gets none for 1 s, doubling "
            "to 8 s. A GET or another repeatable request goes on to the next server after such a "
            "failure, and after a 502, 503 or 504. Other methods do so only if no connection was "
            "made. If all servers are down, requests try them all the same."},
    Setting{"origins[].upstreams[].url", ElementValue{"string"}, "`http[s]://host[:port]`.", true},
    Setting{"origins[].upstreams[].weight", ElementValue{"1 to 256"}, "Share of the requests.",
            false, nullptr, "`1`"},
    Setting{"origins[].upstreams[].backup", ElementValue{"boolean"},
            "The server comes last: it gets requests while all others are down, and repeats that "
            "all of them have failed.",
            false, nullptr, "`false`"},
    Setting{"origins[].balance", ElementValue{"`round_robin`, `least_in_flight` or `rendezvous`"},
            "Choice of the server. `rendezvous` gives each URL to one server, so ETags and caches "
            "of the servers stay in use.",
            false, nullptr, "`round_robin`"},
    Setting{"origins[].slow_start", ElementValue{"time"},
            "Time in which a server that is up again grows from a tenth to its whole weight.",
            false, nullptr, "`0s`"},
    Setting{"origins[].health", ElementValue{"object"},
            "Active checks of the servers. Two results in a row change the state of a server; the "
            "first result counts alone."},
    Setting{"origins[].health.path", ElementValue{"string"},
            "Path and query of the GET, with the site's `host` in `Host`, or the server's if that "
            "has a `*`.",
            true},
    Setting{"origins[].health.every", ElementValue{"time"},
            "Time between two checks of one server.", false, nullptr, "`5s`"},
    Setting{"origins[].health.timeout", ElementValue{"time"},
            "Time for connection and head of a check, at most `every`.", false, nullptr,
            "`2s`, or `every` if that is less"},
    Setting{"origins[].health.expect", ElementValue{"list of statuses"},
            "Statuses of a good check: `200`, `\"2xx\"` or `\"200-399\"`.", false, nullptr,
            "`[\"200-399\"]`"},
    Setting{"origins[].public", ElementValue{"string"},
            "A URL of the entry at this node: `http[s]://host[:port]`, with a path or without; see "
            "`mirror.md`. Requests at or below it belong to the entry, whatever `host` and `path` "
            "say, the longest URL first. The origin gets them with the path of `url` in place of "
            "that of `public`, and with its own name in `Host`: `host`, or the host of `url` if "
            "`host` has a `*`. The scheme is that of the client's connection, or the one that a "
            "trusted proxy states. The URL is part of the key, so `public` and `rewrite` must be "
            "the same at all nodes (`rules_differ` otherwise)."},
    Setting{
        "origins[].rewrite", ElementValue{"list of `location`, `links` and `xet`"},
        "What of a response under `public` gets the public addresses of all entries in place "
        "of those of their origins. `location`: the fields `Location`, `Content-Location`, "
        "`Link` and `Refresh`, the realm of `WWW-Authenticate`, and Domain and Path of "
        "cookies. `links`: URLs in bodies of HTML "
        "and JSON. `xet`: with `links`, the member `xetHash` of JSON gets another name, so that "
        "clients of Hugging Face ask the mirror and not Xet. A change ends the stored responses "
        "that it concerns.",
        false, nullptr, "`[\"location\"]`"},
    Setting{"origins[].rewrite_up_to", ElementValue{"size"},
            "Bytes of a body whose links are rewritten. A body that states a greater length stays "
            "as it is; of a body without a length, or with a coding, the rest does.",
            false, nullptr, "`64MiB`"},
    Setting{"origins[].ns", ElementValue{"string"},
            "The registry of the entry, such as `docker.io`, for clients that have one mirror for "
            "many registries. containerd and k3s name the registry in the query: "
            "`/v2/...?ns=docker.io`. Such a request to any name of the node is for the URL below "
            "`public`, and neither key nor origin sees `ns`. A registry that no entry names is "
            "404. Needs `public`.",
            false, nullptr, "none"},
    Setting{"origins[].tls", ElementValue{"object"}, "How the server proves itself."},
    Setting{"origins[].tls.verify", ElementValue{"boolean"}, "The server must prove the name.",
            false, nullptr, "`true`"},
    Setting{"origins[].tls.ca", ElementValue{"path"},
            "PEM file, or a directory that `openssl rehash` made.", false, nullptr,
            "the system's authorities"},
    Setting{"origins[].tls.name", ElementValue{"string"}, "Name for SNI and for the certificate.",
            false, nullptr, "the host of `url`"},
    Setting{"rules", special<read_rules, rules_json, &Config::rules>("list"),
            "Rules for hosts and paths. The first rule that matches a request applies; "
            "without one, the settings of `cache` do. [Rules](../howto/rules.md) explains "
            "each member with an example."},
    Setting{"rules[].name", text<&Rule::name>("string", fault_of_rule_name),
            "Unique name of the rule, in the access log, in `explain` and in purges.", true},
    Setting{"rules[].match", SectionValue{},
            "Requests that the rule is for. A part that is left out matches every request."},
    Setting{"rules[].match.hosts",
            special<read_hosts, texts_of_globs, &Rule::match, &RuleMatch::hosts>("list of globs"),
            "Hosts without a port. `*` stands for any bytes, so `*.example.com` covers all "
            "names below."},
    Setting{"rules[].match.paths",
            special<read_paths, texts_of_globs, &Rule::match, &RuleMatch::paths>("list of globs"),
            "Paths without the query. `*` stands for any bytes, also for `/`. The node "
            "compares the normalised path: unreserved characters decoded, dot segments "
            "resolved, repeated `/` as one."},
    Setting{"rules[].match.methods",
            special<read_methods, nullptr, &Rule::match, &RuleMatch::methods>("list of methods"),
            "Methods. `GET` covers `HEAD`, too."},
    Setting{"rules[].fresh_for",
            special<read_fresh_for, show_fresh_for, &Rule::storing, &StoringRule::fresh_for>(
                "time span, or object of spans by status"),
            "Lifetime in place of the origin's. A span is for 200, 203, 300, 301, 302, 307 "
            "and 308. `no-store`, `private` and `no-cache` still apply unless `ignore` "
            "lists them."},
    Setting{"rules[].at_least", duration<&Rule::storing, &StoringRule::at_least>(0ns, kLongestSpan),
            "The lifetime is raised to this, for 2xx, 301 and 308 that may be stored."},
    Setting{"rules[].at_most", duration<&Rule::storing, &StoringRule::at_most>(0ns, kLongestSpan),
            "The lifetime is cut to this.", false, check<check_lifetimes>},
    Setting{"rules[].stale_while_revalidate",
            duration<&Rule::storing, &StoringRule::stale_while_revalidate>(0ns, kLongestSpan),
            "Replaces the directive of RFC 5861, and `must-revalidate`."},
    Setting{"rules[].stale_if_error",
            duration<&Rule::storing, &StoringRule::stale_if_error>(0ns, kLongestSpan),
            "Replaces the directive of RFC 5861, and `must-revalidate`."},
    Setting{
        "rules[].stale_on",
        special<read_stale_on, nullptr, &Rule::storing, &StoringRule::stale_on>("list of statuses"),
        "Statuses of the origin, such as 429, that count as its failure: within "
        "`stale_if_error` the client gets the stored response in their place."},
    Setting{"rules[].immutable", flag<&Rule::storing, &StoringRule::immutable>(),
            "Content never changes: it is fresh for ever, and a client that reloads gets "
            "the stored copy. Danger: only a purge corrects a wrong copy."},
    Setting{"rules[].share_authorized", flag<&Rule::storing, &StoringRule::share_authorized>(),
            "Responses to requests with `Authorization` are stored for all clients. Danger: "
            "a client without these credentials gets them. It is for content whose URL is "
            "the secret, such as digests."},
    Setting{"rules[].authorize",
            special<read_authorize, show_authorize, &Rule::storing, &StoringRule::authorize>(
                "`origin`"),
            "The origin authorizes each client. The node stores content with a strong `ETag`, "
            "whatever credentials the request had. Before a client gets a stored body, its own "
            "request goes to the origin with `If-None-Match`. A 304, or a 200 with the same "
            "`ETag`, gives the stored body, or the body of a peer; any other answer goes to this "
            "client alone. Without an answer of the origin the client gets an error. With `query` "
            "one body serves all signatures of a URL."},
    Setting{"rules[].follow_redirects", flag<&Rule::storing, &StoringRule::follow_redirects>(),
            "The node follows redirects of a GET to hosts that an origin or a rule names, "
            "at most 5, and stores the final response under the first URL. It never follows "
            "from https to http, and sends no credentials to another host."},
    Setting{"rules[].redirect_fields",
            special<read_redirect_fields, nullptr, &Rule::storing, &StoringRule::redirect_fields>(
                "list of field names"),
            "Needs `follow_redirects`. Fields that the final response gets from the first followed "
            "redirect that has them, in place of its own.",
            false, check<check_redirects>},
    Setting{
        "rules[].ignore",
        special<read_ignored, show_ignored, &Rule::storing, &StoringRule::ignored>("list of words"),
        "Statements of the origin that do not count: `no-store`, `private`, `no-cache`, "
        "`set-cookie`, `vary`. Danger: clients get content that the origin meant for "
        "one of them, or for another choice of fields. A cookie is not stored; only the "
        "client whose request fetched the response gets it."},
    Setting{"rules[].key_fields",
            special<read_key_fields, nullptr, &Rule::storing, &StoringRule::key_fields>(
                "list of field names"),
            "Request fields that are a part of the key, for an origin that chooses by a field "
            "without naming it in `Vary`. Each combination of values has a response of its own. "
            "In `Accept`, `Accept-Charset` and `Accept-Encoding` the order of members, letter case "
            "and default weights do not count. A key or token named here, such as `X-Api-Key`, "
            "keeps no response out of the store. All nodes of a cluster need the same, as for "
            "`query`."},
    Setting{"rules[].bypass", flag<&Rule::bypass>(), "Matching requests go past the cache."},
    Setting{"rules[].fetch_for_head", flag<&Rule::fetch_for_head>(),
            "A HEAD for which nothing usable is stored becomes a GET for the store, and the client "
            "gets its head. So the next HEAD or GET is a hit, and the response survives an outage. "
            "It is for clients that begin with a HEAD, and for redirects and small bodies: the "
            "node drops a large body that nobody reads. Without it a HEAD goes to the origin."},
    Setting{"rules[].fetch_once", choice<&Rule::fetch_once>(kFetchOnceNames),
            "Whether a node that misses what no peer has asks first which node fetches it already, "
            "and takes it from there, so that the cluster asks the origin once. `auto` asks where "
            "a second fetch would take long, where this origin's misses met lately, and for each "
            "body in blocks."},
    Setting{"rules[].min_age", duration<&Rule::min_age>(0ns, kLongestSpan),
            "Content that the origin changed more recently, by `Last-Modified`, is refused with "
            "403 and the reason. It is a cooldown against fresh malicious packages. Content "
            "without `Last-Modified` counts from its first sight in the cluster, by its `ETag`. "
            "Content without both is refused."},
    Setting{"rules[].query", special<read_query, show_query, &Rule::query>("`ignore`, or object"),
            "The part of the query that stays in the key. The origin gets the whole query "
            "of the request that fetches. All nodes of a cluster need the same rules up to "
            "the last that changes keys; nodes that differ refuse each other's links with "
            "`rules_differ`."},
    Setting{"rules[].query.keep", ElementValue{"list of globs"},
            "Only these parameters stay in the key."},
    Setting{"rules[].query.drop", ElementValue{"list of globs"},
            "All parameters but these stay in the key."},
    Setting{"rules[].query.sort", ElementValue{"boolean"},
            "Parameters are sorted by name in the key."},
    Setting{"rules[].request_fields",
            special<read_edits, show_edits, &Rule::request_fields>("object"),
            "Changes of the fields of requests, before a stored variant is selected: `set` "
            "and `add` are objects of names and values, `remove` is a list of names."},
    Setting{"rules[].response_fields",
            special<read_edits, show_edits, &Rule::response_fields>("object"),
            "Changes of the fields of responses to clients, in the form of "
            "`request_fields`. The store keeps the origin's fields."},
    Setting{"rules[].tags", special<read_tags, nullptr, &Rule::tags>("list of tags"),
            "Tags of each stored response, to purge by, as in `Surrogate-Key`."},
    Setting{"cache", SectionValue{}, "The store: memory tier, disk tier and caching rules."},
    Setting{"cache.memory", size<&Config::cache, &CacheConfig::memory>(kMiB, 64 * kTiB),
            "Memory for stored responses, shared by all worker threads. One object in one piece "
            "takes half of it at most. Request field values of variants count, too. `check` and "
            "a start warn if this value and `limits.body_windows` together exceed the memory "
            "limit of the control group."},
    Setting{"cache.disk",
            special<read_disk, show_disk, &Config::cache, &CacheConfig::disk>(
                "object or list of objects"),
            "Directories of the disk tier, best one per disk. Each key belongs to one of them, "
            "in proportion to their sizes. If one fails, the others continue. Another path, or "
            "another size at the next start, moves some keys, whose content is fetched again. "
            "Reads: a body of 16KiB or more is sent from the page cache with `sendfile`, and "
            "only its head is in `cache.memory`; smaller bodies are read into memory. Kernels "
            "before 6.5 and overlay file systems cannot tell what the page cache holds, so "
            "everything is read into memory there. No request waits for a write: when too much "
            "is queued, a response is not written and counted. Restart: the node answers at "
            "once and reads about a million objects per second from the page cache meanwhile. A "
            "kill loses the last milliseconds of writes; a crash of the machine loses what the "
            "system had not written. Every body is verified by a checksum at its first read. "
            "Purges and invalidations survive a kill; after a crash of the machine those since "
            "the last sync may be lost. The answer to an unsafe method waits up to a second for "
            "its invalidation. Failure: no request fails by it, because the content is fetched "
            "again. Writing pauses after an error or on a full file system. A directory that "
            "has failed at the start begins in the state `off` if there are others; every other "
            "fault prevents the start. To empty a directory, stop the node and remove the "
            "files. If they are removed under a running node, it notices within a second and "
            "takes the directory again.",
            false, check<raise_object_max>},
    Setting{"cache.disk[].path", ElementValue{"absolute path"},
            "The directory belongs to this node alone. A second process prevents a start. So do "
            "foreign files at the first use; later they cause a warning. `lost+found`, "
            "`.snapshot`, `.snapshots` and `.zfs` are allowed. The node creates the last "
            "component. In a container use a volume. `check` "
            "and a start warn about tmpfs and overlay file systems.",
            true}
        .after_restart(),
    Setting{"cache.disk[].size", ElementValue{"size"},
            "Room for the node's own files. Each object takes about 45 bytes of memory besides, "
            "not counted in `cache.memory`: 20 for the index, most of the rest for the summary "
            "(33 in all for `cuckoo` and `quotient`). A lower value gives the oldest segments "
            "back. Leave the file system some spare room. A segment has 1/512 of the size, "
            "between 32MiB and 256MiB, and a record takes at most a quarter of it.",
            true},
    Setting{"cache.disk_admission",
            choice<&Config::cache, &CacheConfig::disk_admission>(kDiskAdmissionNames),
            "While a tenth of a directory is free, every response is written. Then "
            "`second_request` writes a response that was asked for again, since most responses "
            "are asked for only once. `always` writes every response."},
    Setting{"cache.object_max", size<&Config::cache, &CacheConfig::object_max>(1, 64 * kTiB),
            "Largest body that is stored."},
    Setting{"cache.slice_from", kSliceFrom,
            "Larger bodies are stored in blocks, if the origin serves ranges and gives strong "
            "tags. Half of `cache.memory` and the room of a disk record are upper bounds: with "
            "a disk that is 7MiB, and up to 63MiB for directories above 16GiB.",
            false, check<check_slice_from>, "64MiB, or its upper bound"},
    Setting{"cache.block", size<&Config::cache, &CacheConfig::block>(4 * kKiB, kGiB),
            "Size of a block. It must be the same at all nodes. One request of a client is one "
            "request to the origin, however many blocks it touches: the node cuts the answer "
            "into blocks as it comes. Missing blocks between stored ones cost one request per "
            "gap. A range far ahead of a running download gets a request of its own after 500 "
            "ms.",
            false, check<check_block>},
    Setting{"cache.favour", choice<&Config::cache, &CacheConfig::favour>(kFavourNames),
            "What a full memory keeps. `bytes` judges objects by their uses alone (S3-FIFO), which "
            "spares the origin most bytes. `requests` divides the uses by the size "
            "(GreedyDual-Size with frequency): many small objects stay in place of a few large "
            "ones, so more requests are hits."}
        .after_restart(),
    Setting{"cache.variants", count<&Config::cache, &CacheConfig::variants>(1, kMaxVariants),
            "Responses of one key that are stored side by side because of `Vary`. A further one "
            "replaces the least used."},
    Setting{"cache.store_set_cookie",
            flag<&Config::cache, &CacheConfig::rules, &CacheRules::store_set_cookie>(),
            "Responses with `Set-Cookie` and an explicit lifetime are stored, and everybody "
            "gets these cookies. Without it, they pass through. A stored one ends at its next "
            "use after the setting is switched off. Cookies of a 304 reach only the client that "
            "caused it."},
    Setting{"cache.client_directives",
            choice<&Config::cache, &CacheConfig::client_directives>(kClientDirectivesNames),
            "`shield` ignores `no-cache`, `max-age`, `min-fresh` and `max-stale` of clients, "
            "and so keeps their reloads from your origins."},
    Setting{"cache.cdn_cache_control",
            flag<&Config::cache, &CacheConfig::rules, &CacheRules::cdn_cache_control>(),
            "`CDN-Cache-Control` (RFC 9213) replaces `Cache-Control` and `Expires` for sites in "
            "`origins`. It never counts for forward targets."},
    Setting{"cache.stale_when_unreachable",
            duration<&Config::cache, &CacheConfig::rules, &CacheRules::stale_when_unreachable>(
                0s, kLongestSpan),
            "How long after its lifetime a response without `stale-if-error` may stand in for "
            "an unreachable origin, if it was fresh once and nothing forbids it. 0 means never."},
    Setting{"cache.heuristic", SectionValue{}, "Lifetime of responses that state none."},
    Setting{"cache.heuristic.fraction",
            fraction<&Config::cache, &CacheConfig::rules, &CacheRules::heuristic_fraction>(0, 1),
            "Part of the time since `Last-Modified` that a response without a stated lifetime "
            "is fresh."},
    Setting{"cache.heuristic.maximum",
            duration<&Config::cache, &CacheConfig::rules, &CacheRules::heuristic_maximum>(
                0s, kLongestSpan),
            "Upper bound of that lifetime. 0 means that such responses are always validated."},
    Setting{"cluster", optional_section<&Config::cluster>(), "A node without it works alone."}
        .after_restart(),
    Setting{"cluster.key",
            special<read_keys, show_nothing, &Config::cluster, &ClusterConfig::keys>("string"),
            "Secret that all nodes share. Links prove by it who they are, and it encrypts links "
            "and peer requests (`cluster.encrypt`). It also makes the hashes that name stored "
            "content, on the wire and on disk. Tags on disk mean nothing under another key: "
            "`check` and a start ask for an empty directory then. Write it as `${NAME}`.",
            true}
        .after_restart(),
    Setting{"cluster.keys",
            special<nullptr, show_keys, &Config::cluster, &ClusterConfig::keys>(
                "list of one or two strings"),
            "Either `key` or `keys` is given. The first key signs and both are accepted. To "
            "rotate, reload every node with the new key in front, then restart each with the "
            "new key alone. Nodes on different sides of the restart do not share content."},
    Setting{"cluster.listen", endpoint<&Config::cluster, &ClusterConfig::listen>(),
            "Peers dial this port and announce their summaries.", true}
        .after_restart(),
    Setting{"cluster.encrypt", flag<&Config::cluster, &ClusterConfig::encrypt>(),
            "Links and peer requests use TLS 1.3 with a key from `cluster.key`. All nodes need the "
            "same value: nodes with different values refuse each other's links and say so. "
            "`false` is for a trusted network: everything between nodes travels in the clear then, "
            "content of https URLs too."},
    Setting{"cluster.allow_clear", flag<&Config::cluster, &ClusterConfig::allow_clear>(),
            "For the time of a change from `encrypt` off to on, or from a version without "
            "encryption: the node also takes links in the clear, and dials so where a node has "
            "proved that it does not encrypt. Content of https URLs goes to no peer in the clear "
            "meanwhile."},
    Setting{"cluster.copy", choice<&Config::cluster, &ClusterConfig::copy>(kCopyPolicyNames),
            "Whether a response of a peer is stored here, too. `always` stores every copy. "
            "`second_use` stores a copy when its key came from a peer before; the node "
            "remembers 65,536 to 131,072 keys. `while_room` stores every copy while more than a "
            "sixteenth of `cache.memory` is free, then acts as `second_use`. `never` stores "
            "none. Two requests at the same time are a second use. A copy that renews a stored "
            "response is always stored. Content that is not stored is not announced, and other "
            "requests do not wait for it."},
    Setting{"cluster.bandwidth", size<&Config::cluster, &ClusterConfig::bandwidth>(0, kTiB),
            "Bytes per second of the bodies that this node gives to its peers, all of them "
            "together. It keeps peers from taking the link from clients. After a pause, the bytes "
            "of one second go out at once. Heads and summaries do not count. 0: no limit; else at "
            "least 1KiB.",
            false, check<check_peer_bandwidth>},
    Setting{"cluster.heartbeat", duration<&Config::cluster, &ClusterConfig::heartbeat>(10ms, 60s),
            "Interval of heartbeats on each link. With more than 64 peers the node beats less "
            "often: 64 times per interval in total, and at least once a minute per link."},
    Setting{"cluster.gone_after",
            duration<&Config::cluster, &ClusterConfig::gone_after>(50ms, 10min),
            "Silence after which a peer counts as gone. A peer that announces a longer interval "
            "gets twice the difference in addition."},
    Setting{"cluster.max_peers", count<&Config::cluster, &ClusterConfig::max_peers>(1, kMaxPeers),
            "Peers besides this node, listed and found."},
    Setting{"cluster.peers", special<read_peers, peers_json, &Config::cluster>("list"),
            "An entry of the node itself is skipped. `POST /api/v1/peers` changes the list "
            "until the next reload."},
    Setting{"cluster.peers[].node", ElementValue{"string"}, "Name of the peer.", true},
    Setting{"cluster.peers[].http", ElementValue{"address, or a port beside `dns`"},
            "Listener for peer requests. The rule for kept connections and DNS is that of "
            "`origins[].url`."},
    Setting{"cluster.peers[].link", ElementValue{"address, or a port beside `dns`"},
            "Listener for summaries."},
    Setting{"cluster.peers[].dns", ElementValue{"string, in place of `node`"},
            "Every address of the name is a node. Without both ports, the SRV records "
            "`_hearsay-http._tcp.NAME` and `_hearsay-link._tcp.NAME` give addresses and ports. "
            "Every node with the key is accepted. The node looks the name up again when the TTL "
            "is over (2 s to 30 s, 5 s if unknown), and at once when a link breaks or a new "
            "node appears. A place that no name leads to and where nobody answers is forgotten "
            "after 30 s. Nothing is forgotten while name servers fail."},
    Setting{"summary", SectionValue{}, "The own summary."},
    Setting{"summary.kind", kSummaryKind,
            "Kind of the own summary; each node may choose. `cuckoo` exceeds the false hit "
            "budget with more than 64 peers."}
        .after_restart(),
    Setting{"summary.false_hit_budget",
            fraction<&Config::summary, &SummaryConfig::false_hit_budget>(0, 0.5),
            "Expected false hits per local miss, over all peers."},
    Setting{"summary.announce", SectionValue{}, "When changes go to the peers."},
    Setting{"summary.announce.changed",
            fraction<&Config::summary, &SummaryConfig::announce, &AnnounceConfig::changed>(0, 1),
            "The node announces its changes when this part of the objects has changed, or after "
            "`delay`. The earlier condition counts."},
    Setting{"summary.announce.delay",
            duration<&Config::summary, &SummaryConfig::announce, &AnnounceConfig::delay>(1ms, 1h),
            "The node announces its changes at the latest this long after the first unannounced "
            "one."},
    Setting{"log", SectionValue{}, "Access log and error log."},
    Setting{"log.level", choice<&Config::log, &LogConfig::level>(kLogLevelNames),
            "Least level of the error log on standard error."},
    Setting{"log.error_format", choice<&Config::log, &LogConfig::error_format>(kErrorFormatNames),
            "Format of the error log: `text` with local times, or `json` with UTC as in the access "
            "log; see `logs.md`."},
    Setting{"log.access",
            text<&Config::log, &LogConfig::access>("`off`, `stdout` or the path of a file",
                                                   fault_of_log_destination),
            "Destination of the access log. USR1 reopens the file. The file may be a FIFO "
            "without a reader. `check` warns about words such as `none` that count as file "
            "names."},
    Setting{"log.format", choice<&Config::log, &LogConfig::format>(kAccessFormatNames),
            "Format of the access log; see `logs.md`.", false, check<choose_peer_lines>},
    Setting{"log.peers", flag<&Config::log, &LogConfig::peers>(), "Lines for peer requests.", false,
            nullptr, "`true` for `json`, else `false`"},
    Setting{"tracing", optional_section<&Config::tracing>(),
            "Spans of requests, for a collector of OpenTelemetry. Without this object the node "
            "makes none, and passes the `traceparent` of a client on as any other field. See "
            "`tracing.md`."},
    Setting{
        "tracing.endpoint",
        special<read_endpoint, show_endpoint, &Config::tracing, &TracingConfig::endpoint>("URL"),
        "The OTLP/HTTP receiver of the collector, `http://127.0.0.1:4318/v1/traces`. A URL "
        "without a path gets `/v1/traces`. The certificate of an https one has to be good by "
        "the system's CA certificates.",
        true},
    Setting{"tracing.sample_ratio", fraction<&Config::tracing, &TracingConfig::sample_ratio>(0, 1),
            "Share of the traces begun by this node that make spans. The trace id decides, so "
            "nodes with one ratio choose alike. A request with a parent follows its parent."},
    Setting{"tracing.trusted", prefixes<&Config::tracing, &TracingConfig::trusted>(),
            "Clients whose `traceparent` is the parent of their request, with its sampled flag. "
            "The address behind a trusted proxy counts. A request of another client begins a new "
            "trace, so strangers cannot order spans. Peers are trusted by their proof."},
    Setting{"tracing.service_name", text<&Config::tracing, &TracingConfig::service_name>("name"),
            "`service.name` of the spans. `service.instance.id` is the name of the node."},
    Setting{"purge", SectionValue{}, "The method `PURGE` on the proxy port."},
    Setting{"purge.allow", prefixes<&Config::clients, &ClientsConfig::purge>(),
            "Addresses that may send `PURGE` on the proxy port. A `PURGE` through a proxy that "
            "is not trusted is refused. Behind a proxy on the same machine that adds neither "
            "`Via` nor `X-Forwarded-For`, every client seems to come from loopback: set `[]`, "
            "or trust the proxy and let it add the field."},
    Setting{"limits", SectionValue{},
            "Bounds of everything that clients and origins can make the node hold."},
    Setting{"limits.request_line", size<&Config::limits, &LimitsConfig::request_line>(256, kMiB),
            "Longer request lines get 414."},
    Setting{"limits.head", size<&Config::limits, &LimitsConfig::head>(kKiB, 16 * kMiB),
            "Longer heads, and those of more than 200 lines, get 431 in a request and 502 in a "
            "response. A connection holds about 4.6 times the bytes of its head while its request "
            "waits.",
            false, check<check_heads>},
    Setting{"limits.connections", count<&Config::limits, &LimitsConfig::connections>(1, 10'000'000),
            "Client connections of all worker threads; at most half of the file descriptors. "
            "When all are taken, a new connection closes the one that has waited longest for a "
            "request, of its own address or of an address with more connections. If none waits, "
            "the new one is refused. `connections.made_room` and "
            "`refusals.too_many_connections` count both."},
    Setting{"limits.connections_per_address", kPerAddress,
            "Connections of one address, or of one IPv6 /64. Trusted proxies and peers have no "
            "such limit. With `proxy_protocol` the limit applies to the client that the PROXY "
            "header names.",
            false, check<check_per_address>, "seven eighths of `connections`"},
    Setting{"limits.upstream_connections",
            count<&Config::limits, &LimitsConfig::upstream_connections>(1, 1'000'000),
            "Connections of one worker thread to one origin or peer. Further requests get 503 "
            "with `busy`."},
    Setting{"limits.body_windows", size<&Config::limits, &LimitsConfig::body_windows>(kMiB, kTiB),
            "Bytes in flight of all bodies that are not stored, and of content read ahead, beside "
            "`cache.memory`. One body has up to 256KiB of it, and less as this fills. A body whose "
            "blocks peers announce has four more blocks (`cache.block`) of it, of which all bodies "
            "together have half at most."},
    Setting{"limits.client_rate_min",
            size<&Config::limits, &LimitsConfig::client_rate_min>(0, kGiB),
            "A client that moves less over `timeouts.body_idle` is cut. Only the time counts "
            "during which the node waits for this client. With 0, one byte is enough. While others "
            "wait for it, as readers of one body that is not being stored, it has to take 64 KiB/s "
            "over 10 s, or over a sixth of `timeouts.body_idle` where that is less."},
    Setting{"timeouts", SectionValue{}, "Deadlines of clients, origins, tunnels and the drain."},
    Setting{"timeouts.client_head",
            duration<&Config::timeouts, &TimeoutsConfig::client_head>(10ms, 1h),
            "From the first byte of a request to the end of its head; then 408."},
    Setting{"timeouts.keep_alive",
            duration<&Config::timeouts, &TimeoutsConfig::keep_alive>(10ms, 24h),
            "Between two requests of a client."},
    Setting{"timeouts.origin_connect",
            duration<&Config::timeouts, &TimeoutsConfig::origin_connect>(10ms, 1h),
            "For name look-up, connection and TLS handshake with an origin; then 504."},
    Setting{"timeouts.origin_head",
            duration<&Config::timeouts, &TimeoutsConfig::origin_head>(10ms, 24h),
            "For the head of an origin's answer; then 504."},
    Setting{"timeouts.origin_idle",
            duration<&Config::timeouts, &TimeoutsConfig::origin_idle>(10ms, 24h),
            "Age at which an idle connection to an origin or peer is closed."},
    Setting{"timeouts.body_idle",
            duration<&Config::timeouts, &TimeoutsConfig::body_idle>(10ms, 24h),
            "Time without a byte of a body, on either side, and the window of "
            "`limits.client_rate_min`. A client that resets its connection is noticed within a "
            "second. One that only ends its side gets ten seconds more. A fill that nobody "
            "follows ends at once if more is missing than has arrived and more than 1MiB, else "
            "after 5 s. A background renewal gets 60 s."},
    Setting{"timeouts.tunnel_idle",
            duration<&Config::timeouts, &TimeoutsConfig::tunnel_idle>(10ms, 24h),
            "A tunnel or upgraded connection without a byte in either direction is closed."},
    Setting{"timeouts.drain", duration<&Config::timeouts, &TimeoutsConfig::drain>(0ns, 24h),
            "From the start of a drain until remaining work is cut."},
    Setting{"timeouts.drain_grace",
            duration<&Config::timeouts, &TimeoutsConfig::drain_grace>(0ns, 24h),
            "Part of `drain` during which listeners stay open while `/readyz` says 503. A load "
            "balancer needs longer than its own check interval. `check` warns if it takes all "
            "of `drain`."},
};

}  // namespace

std::span<const Setting> setting_table() {
    return kTable;
}

}  // namespace proxy
