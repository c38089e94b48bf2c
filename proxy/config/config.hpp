#pragma once

#include "protocol/membership/peer_config.hpp"
#include "protocol/membership/summary_config.hpp"
#include "proxy/config/prefix_list.hpp"
#include "proxy/config/upstreams.hpp"
#include "proxy/http/cache_control.hpp"
#include "proxy/http/forwarded.hpp"
#include "proxy/http/rule.hpp"
#include "proxy/rewrite/mirror.hpp"
#include "summary/directory/peer_set.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace proxy {

using base::HostPort;  // in the JSON `host:port`, IPv6 as `[::1]:3128`

/// The words of the configuration for each choice, in the order of its enumerators.
inline constexpr std::array<std::string_view, 3> kForwardedModeNames{"off", "append", "replace"};
inline constexpr std::array<std::string_view, 3> kViaModeNames{"full", "pseudonym", "off"};
inline constexpr std::array<std::string_view, 2> kClientDirectivesNames{"obey", "shield"};

/// The private networks that clients may reach: none, all, or the listed ones.
enum class Destinations : std::uint8_t { deny, allow, listed };

/// What the lines of a published blocklist name. `hosts`: an address, and hosts that count alone.
/// `domains`: a domain with its subdomains. `dstdomain`: the same after a dot, else one host.
/// `urls`: host and start of a path.
enum class BlocklistFormat : std::uint8_t { hosts, domains, dstdomain, urls };
inline constexpr std::array<std::string_view, 4> kBlocklistFormatNames{"hosts", "domains",
                                                                       "dstdomain", "urls"};
/// What happens to a request for a target in a blocklist.
enum class BlocklistAction : std::uint8_t { refuse, log };
inline constexpr std::array<std::string_view, 2> kBlocklistActionNames{"refuse", "log"};

/// An entry of `forward.blocklists`.
struct BlocklistConfig {
    std::string path;
    BlocklistFormat format = BlocklistFormat::domains;
    BlocklistAction action = BlocklistAction::refuse;
    bool operator==(const BlocklistConfig&) const = default;
};

/// The users of the forward proxy, who prove themselves by a password.
struct AuthenticationConfig {
    std::string users;  // absolute path of a file in the form of htpasswd
    std::string realm = "hearsay";
    bool in_clear = false;  // passwords may come over connections in the clear
};

/// A pattern of hosts, and a port or all of them (0).
struct DestinationPattern {
    std::string text;  // as written
    Glob host;         // lower case, without a final dot; an IPv6 address without brackets
    std::uint16_t port = 0;
};

/// The targets that clients of the forward proxy may name. access/judge_destination.hpp judges.
struct DestinationRules {
    std::vector<DestinationPattern> allow{};  // empty: all
    std::vector<DestinationPattern> deny{};   // wins
    bool empty() const { return allow.empty() && deny.empty(); }
};

/// The PEM files of a certificate: the chain, the own one first; its key.
struct CertificateFiles {
    std::string certificate, key;
};

/// The hosts whose `CONNECT` the node answers itself, and the CA that signs for them.
/// access/intercepted.hpp judges.
struct InterceptConfig {
    std::vector<DestinationPattern> hosts{};  // without ports; at most kMaxDestinations
    std::vector<std::uint16_t> ports{443};
    CertificateFiles ca{};
};

/// The forward proxy: its users, and the destinations that they may name.
struct ForwardConfig {
    bool enabled = false;
    std::optional<AuthenticationConfig> authentication = std::nullopt;  // absent: none
    DestinationRules destinations{};
    /// The clients that may use this node as a forward proxy. 100.64.0.0/10 is missing, because its
    /// addresses are strangers behind a carrier's NAT.
    PrefixList clients{
        "127.0.0.0/8",    "::1",      "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16",
        "169.254.0.0/16", "fc00::/7", "fe80::/10"};
    std::vector<std::uint16_t> connect_ports{443};
    std::optional<InterceptConfig> intercept = std::nullopt;  // absent: all are tunnelled
    Destinations private_destinations =
        Destinations::deny;         // of targets that no origin entry matches
    PrefixList private_prefixes{};  // with `listed`: the open destinations besides public addresses
    std::vector<BlocklistConfig> blocklists{};  // at most kMaxBlocklists
    std::string blocklist_folder{};             // for the sorted lists; empty: see list_folder()
    /// The proxies that requests and tunnels to forward targets go through; null: none.
    std::shared_ptr<const UpstreamGroupConfig> parents = nullptr;
    NoProxy no_proxy{};  // targets that are reached without them
};

/// The use that one client or user may make of the node. 0: without a limit.
struct ClientAllowance {
    std::uint64_t requests = 0;     // per second
    std::uint64_t burst = 0;        // requests at once; 0: as many as `requests`
    std::uint64_t connections = 0;  // requests and tunnels in progress
    std::uint64_t bandwidth = 0;    // bytes/s of bodies and tunnels towards the client

    bool any() const { return requests > 0 || connections > 0 || bandwidth > 0; }
};

struct ClientLimits {
    ClientAllowance per_address, per_user;
    bool any() const { return per_address.any() || per_user.any(); }
};

/// The rights of client addresses, and the proxies that speak for clients.
struct ClientsConfig {
    PrefixList allow{"0.0.0.0/0", "::/0"};
    PrefixList deny{};             // wins over `allow`
    PrefixList trusted_proxies{};  // their X-Forwarded-For counts
    bool proxy_protocol = false;   // connections from these begin with a PROXY v2 header
    ClientLimits limits{};
    /// From `purge.allow`: they may send PURGE to the proxy port.
    PrefixList purge{"127.0.0.0/8", "::1"};
};

/// The client's data in X-Forwarded-* and Forwarded of origin requests. `append` keeps the
/// statement of a trusted proxy. `off` leaves X-Forwarded-For and Forwarded as they came.
struct ForwardedConfig {
    ForwardedMode origins = ForwardedMode::append;  // requests to an entry of `origins`
    ForwardedMode forward = ForwardedMode::off;     // the others
    ViaMode via = ViaMode::full;
    /// Fields that are left out of a GET or HEAD to an entry of `origins`, whose response others
    /// may get. By them some origins choose another target, method, host or scheme than the request
    /// line and Host state. A trusted proxy's requests lose them, too, as proxies pass on the
    /// fields of their clients.
    std::vector<std::string> drop{"X-Forwarded-Port",     "X-Forwarded-Prefix",
                                  "X-Forwarded-Path",     "X-Forwarded-Ssl",
                                  "X-Forwarded-Scheme",   "X-Forwarded-Server",
                                  "X-Original-URL",       "X-Original-Host",
                                  "X-Rewrite-URL",        "X-Host",
                                  "X-HTTP-Host-Override", "X-HTTP-Method",
                                  "X-Method-Override",    "X-HTTP-Method-Override",
                                  "X-URL-Scheme",         "Front-End-Https"};
};

/// The admin requests that need the token: changes and the configuration, or all.
enum class TokenFor : std::uint8_t { changes, all };
inline constexpr std::array<std::string_view, 2> kTokenForNames{"changes", "all"};

/// The list of the most frequent URLs at the admin port. A query may hold secrets.
enum class TopUrls : std::uint8_t { off, without_query, whole };
inline constexpr std::array<std::string_view, 3> kTopUrlsNames{"off", "without_query", "whole"};

inline constexpr std::uint16_t kAdminPort = 9128;

/// The admin port and its guard.
struct AdminConfig {
    HostPort listen{"127.0.0.1", kAdminPort};
    std::string token{};  // empty: there is none, and its routes respond on loopback only
    TokenFor token_for = TokenFor::changes;
    std::vector<std::string> names{};  // lower case: good in Host, as are addresses and localhost
    TopUrls top_urls = TopUrls::without_query;
    bool top_clients = false;  // the list of the most frequent clients
};

/// The proof of identity that an https origin must give.
struct OriginTlsConfig {
    bool verify = true;
    std::string ca;    // PEM file, or a directory made by `openssl rehash`; empty: the system's
    std::string name;  // for SNI, and what the certificate is for; empty: the host of `url`
};

/// The name of an entry at this node, and what is rewritten there.
struct PublicConfig {
    UrlPrefix url;          // from `public`
    std::string path = {};  // of `url` or of all `upstreams`, as UrlPrefix has it
    bool location = true, links = false, xet = false;  // from `rewrite`
    std::uint64_t rewrite_up_to = 64ull << 20;         // bytes: larger bodies keep their links
    std::string ns = {};  // the registry in `?ns=` of containerd, lower case; empty: none
};

/// An entry of `origins`: the hosts of targets, and the servers that have their content.
struct OriginConfig {
    std::string host;  // of the target, lower case; `*` is any, `*.h` any name below h
    HostPort server;   // from `url`: http[s]://host[:port]; with `upstreams`: unused
    std::optional<OriginTlsConfig> tls = std::nullopt;  // set exactly when it is https
    std::string path = {};                              // of the target, its start; empty is any
    /// From `upstreams`; null with a `url`.
    std::shared_ptr<const UpstreamGroupConfig> group = nullptr;
    std::optional<PublicConfig> mirror = std::nullopt;  // set exactly with `public`

    /// The name of the site in counters, pages and groups.
    std::string name() const { return host + path; }
};

/// A second listener, for clients that speak TLS. It has one pair of files or a list of them, or
/// both; certificate_pairs() (config_certificates.hpp) joins them.
struct TlsConfig {
    HostPort listen;
    std::string certificate = {}, key = {};           // both empty without a single pair
    std::vector<CertificateFiles> certificates = {};  // at most kMaxCertificates
};

/// HTTP/2 from clients.
struct Http2Config {
    bool enabled = true;
    bool cleartext = true;      // on `listen`, by prior knowledge
    std::size_t streams = 128;  // requests of one connection at a time
};

/// The protocols of clients beside HTTP/1.
struct ProtocolsConfig {
    Http2Config http2;
    std::vector<std::string> upgrade{
        "websocket"};  // lower case: protocols that Upgrade may ask for
};

/// A directory of the disk tier.
struct DiskConfig {
    std::string path;        // absolute, in its shortest form, with no slash at its end
    std::uint64_t size = 0;  // bytes that its files may take
    bool operator==(const DiskConfig&) const = default;
};

/// The responses that a full disk takes: those with a second request, or all.
enum class DiskAdmission : std::uint8_t { second_request, always };
inline constexpr std::array<std::string_view, 2> kDiskAdmissionNames{"second_request", "always"};

/// What a full memory keeps: the objects that spare the origin most bytes, or most requests.
enum class Favour : std::uint8_t { bytes, requests };
inline constexpr std::array<std::string_view, 2> kFavourNames{"bytes", "requests"};

/// The store: sizes of its tiers, limits of objects, and rules for storing.
struct CacheConfig {
    std::uint64_t memory = 512ull << 20;  // bytes, over all workers
    Favour favour = Favour::bytes;
    std::vector<DiskConfig> disk;  // none: memory alone
    DiskAdmission disk_admission = DiskAdmission::second_request;
    std::uint64_t object_max = 1024ull
                               << 20;  // bytes of one body; in one piece at most half the memory
    std::uint64_t slice_from = 64ull << 20;  // bytes; larger bodies are stored in blocks
    std::uint64_t block = 4ull << 20;        // bytes of one; the same at all nodes of a cluster
    std::size_t variants = 32;               // of one URL; one more displaces the least used
    ClientDirectives client_directives = ClientDirectives::obey;
    CacheRules rules;  // in the JSON beside the others, `heuristic` in a section of its own
};

/// The storage of peers' objects on this node.
enum class CopyPolicy : std::uint8_t { always, while_room, second_use, never };
inline constexpr std::array<std::string_view, 4> kCopyPolicyNames{"always", "while_room",
                                                                  "second_use", "never"};
inline constexpr std::array kCopyPolicies{CopyPolicy::always, CopyPolicy::while_room,
                                          CopyPolicy::second_use, CopyPolicy::never};
inline constexpr CopyPolicy kDefaultCopyPolicy = CopyPolicy::while_room;

/// The node's part in a cluster: keys, peers, and the times of peer requests and links.
struct ClusterConfig {
    std::vector<std::string> keys;  // one or two of at least kMinKeyBytes; the first signs
    HostPort listen;
    /// As protocol::PeeringConfig has them. Content of https keys goes to no peer in the clear,
    /// unless `encrypt` is off.
    bool encrypt = true, allow_clear = false;
    bool takes_clear() const { return !encrypt || allow_clear; }
    CopyPolicy copy = kDefaultCopyPolicy;
    std::uint64_t bandwidth = 0;  // bytes/s of bodies that peers get, together; 0: no limit
    std::chrono::nanoseconds heartbeat = std::chrono::seconds(1);
    std::chrono::nanoseconds gone_after = std::chrono::seconds(3);
    std::vector<protocol::PeerConfig> peers;  // may list this node itself
    std::vector<protocol::DnsPeers> dns_peers;
    std::size_t max_peers = 256;  // listed and found, besides this node
};

using protocol::AnnounceConfig;
using protocol::SummaryConfig;

enum class LogLevel : std::uint8_t { trace, debug, info, warn, error, off };
inline constexpr std::array<std::string_view, 6> kLogLevelNames{"trace", "debug", "info",
                                                                "warn",  "error", "off"};
enum class AccessFormat : std::uint8_t { json, squid, combined };
inline constexpr std::array<std::string_view, 3> kAccessFormatNames{"json", "squid", "combined"};

enum class ErrorFormat : std::uint8_t { text, json };
inline constexpr std::array<std::string_view, 2> kErrorFormatNames{"text", "json"};

/// The error log and the access log.
struct LogConfig {
    LogLevel level = LogLevel::info;
    ErrorFormat error_format = ErrorFormat::text;
    std::string access = "off";  // off, stdout, or a file
    AccessFormat format = AccessFormat::json;
    bool peers = true;  // lines for peer requests, too; by default only in json
};

/// The collector of spans: the URL of its OTLP/HTTP receiver.
struct CollectorUrl {
    std::string text;  // as written
    HostPort place;
    std::string authority;  // for Host: without a default port
    std::string path;       // with the query
    bool tls = false;       // verified as a forward target is
    bool operator==(const CollectorUrl& other) const { return text == other.text; }
};

/// Traces: which requests make spans, and where these go. docs/howto/tracing.md explains it.
struct TracingConfig {
    CollectorUrl endpoint{};
    double sample_ratio = 0.01;  // of the traces that begin at this node
    /// The clients whose `traceparent` is the parent of their request, its sampled flag included.
    /// Other clients' requests begin a trace of their own.
    PrefixList trusted{"127.0.0.0/8",    "::1",      "10.0.0.0/8", "172.16.0.0/12",
                       "192.168.0.0/16", "fc00::/7", "fe80::/10",  "169.254.0.0/16"};
    std::string service_name = "hearsay";
};

/// Bounds of connections, heads, windows and rates.
struct LimitsConfig {
    std::size_t request_line = 16 << 10;      // bytes; above: 414
    std::size_t head = 64 << 10;              // bytes, of a request (431) or a response (502)
    std::size_t connections = 20'000;         // of clients, over all workers
    std::size_t connections_per_address = 0;  // of one of them; 0: see connections_of_one()
    std::size_t upstream_connections = 1024;  // to one origin or peer, per worker
    /// Bytes in flight of all bodies that are not stored, with what is read ahead.
    std::uint64_t body_windows = 128 << 20;
    std::uint64_t client_rate_min =
        500;  // bytes/s while the node waits for a client (base/async/pace.hpp)
};

/// The longest waits.
struct TimeoutsConfig {
    std::chrono::nanoseconds client_head = std::chrono::seconds(15);  // first byte to end of head
    std::chrono::nanoseconds keep_alive = std::chrono::seconds(60);   // between two requests
    std::chrono::nanoseconds origin_connect = std::chrono::seconds(5);
    std::chrono::nanoseconds origin_head = std::chrono::seconds(60);
    std::chrono::nanoseconds origin_idle = std::chrono::seconds(30);  // a pooled connection
    std::chrono::nanoseconds body_idle =
        std::chrono::seconds(60);  // without a byte at either side; client_rate_min counts so
    std::chrono::nanoseconds tunnel_idle =
        std::chrono::minutes(10);                               // without a byte in both directions
    std::chrono::nanoseconds drain = std::chrono::seconds(10);  // after TERM, in all
    std::chrono::nanoseconds drain_grace = std::chrono::seconds(1);  // of it, still accepting
};

/// All settings of a node, with their defaults. The JSON uses the same names; its schema is
/// configs/hearsay.schema.json. loaded_config.hpp has what is made of them.
struct Config {
    std::string node;  // unique in the cluster; a token of at most kMaxNodeBytes
    HostPort listen;
    std::optional<TlsConfig> tls;
    ProtocolsConfig protocols;
    unsigned workers = 1;
    std::optional<AdminConfig> admin = AdminConfig{};  // null in the JSON: none
    ClientsConfig clients;
    ForwardConfig forward;
    ForwardedConfig forwarded;
    std::vector<OriginConfig> origins;
    RuleTable rules;
    CacheConfig cache;
    std::optional<ClusterConfig> cluster;
    SummaryConfig summary;
    LogConfig log;
    std::optional<TracingConfig> tracing;  // absent: the node makes no spans, and reads no trace
    LimitsConfig limits;
    TimeoutsConfig timeouts;
};

inline constexpr std::size_t kMinKeyBytes = protocol::kMinClusterKeyBytes;
inline constexpr std::size_t kMaxNodeBytes = protocol::kMaxNodeIdBytes;
inline constexpr std::size_t kMaxPeers = protocol::kMaxPeers;
inline constexpr std::size_t kMaxPrefixes = 256;   // of one list
inline constexpr std::size_t kMinTokenBytes = 16;  // of admin.token
inline constexpr std::size_t kMaxTokenBytes = 1024;
inline constexpr std::size_t kMaxBlocklists = 128;        // of forward.blocklists
inline constexpr std::size_t kMaxRealmBytes = 128;        // of forward.authentication
inline constexpr std::size_t kMaxDestinations = 1024;     // of one list of forward.destinations
inline constexpr std::uint64_t kMinBandwidth = 1024;      // bytes/s, of clients.limits and cluster
inline constexpr std::uint64_t kMaxRewrite = 1ull << 40;  // bytes, of origins[].rewrite_up_to
inline constexpr std::size_t kMaxAdminNames = 64;
inline constexpr std::size_t kMaxUpgrades = 16;
inline constexpr std::size_t kMaxCertificates = 256;  // in tls.certificates
inline constexpr std::size_t kMaxRules = 1024;
inline constexpr std::size_t kMaxRuleTexts = 256;  // elements of one list of a rule
inline constexpr std::size_t kMaxRuleText = 1024;  // bytes of one of them
inline constexpr std::size_t kMaxDropped = 64;     // names in forwarded.drop
inline constexpr std::uint64_t kMinDiskBytes = 256ull << 20, kMaxDiskBytes = 4ull << 40;  // of one
inline constexpr std::size_t kMaxVariants = 1024;  // that cache.variants may allow
inline constexpr unsigned kMaxWorkers = 256;
inline constexpr std::size_t kMaxStreams = 1024;  // of one HTTP/2 connection
inline constexpr std::size_t kMaxConfigBytes = 1 << 20;

/// One fault and its place: `path` as in `$.cluster.peers[1].link`.
struct ConfigError {
    std::string path;
    std::string message;
    bool operator==(const ConfigError&) const = default;
};

/// The share of `connections` for one client address, or for the /64 of an IPv6 address. Unless it
/// is set, an eighth stays for others, so that one client cannot lock them out.
std::uint64_t connections_of_one(const LimitsConfig& limits, std::uint64_t connections);

/// Looks up the `${NAME}` of strings; empty: not set, which is an error.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
Environment process_environment();

/// One line per error: `path: message`, or the message alone without a path.
std::string describe(const std::vector<ConfigError>& errors);

std::string_view to_string(DiskAdmission admission);
std::string_view to_string(CopyPolicy policy);
std::string_view to_string(ForwardedMode mode);
std::string_view to_string(BlocklistFormat format);
std::string_view to_string(BlocklistAction action);
std::string_view to_string(TokenFor what);
std::string_view to_string(LogLevel level);
std::string_view to_string(AccessFormat format);

}  // namespace proxy
