#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/config/config.hpp"
#include "proxy/config/config_section.hpp"

/// Readers and printers of the settings with a grammar of their own, and the rules that several
/// settings share. Only the table of settings calls them (setting_table.cpp). A reader takes its
/// key from the section. It reports a fault and leaves the default then.
namespace proxy::settings {

using nlohmann::ordered_json;
using Texts = std::vector<std::string>;

/// The default is the host name, which distinguishes the containers of one service.
void read_name(ConfigSection&, std::string_view key, std::string& out);
void read_token(ConfigSection&, std::string_view key, std::string& out);
void read_admin_names(ConfigSection&, std::string_view key, Texts& out);
void read_ports(ConfigSection&, std::string_view key, std::vector<std::uint16_t>& out);
void read_destinations(ConfigSection&, std::string_view key, ForwardConfig& out);
void read_intercepted_hosts(ConfigSection&, std::string_view key,
                            std::vector<DestinationPattern>& out);
void read_intercepted_ports(ConfigSection&, std::string_view key, std::vector<std::uint16_t>& out);
/// URLs of proxies, `http://[user:password@]host:port` or the same with `https`. Credentials may be
/// percent-encoded. No message shows them.
void read_parents(ConfigSection&, std::string_view key,
                  std::shared_ptr<const UpstreamGroupConfig>& out);
/// Hosts, globs, addresses and prefixes.
void read_no_proxy(ConfigSection&, std::string_view key, NoProxy& out);
void read_dropped(ConfigSection&, std::string_view key, Texts& out);
void read_upgrade(ConfigSection&, std::string_view key, Texts& out);
/// Reads `key` and `keys`.
void read_keys(ConfigSection&, std::string_view key, Texts& out);
void read_endpoint(ConfigSection&, std::string_view key, CollectorUrl& out);

ordered_json show_nothing(const Texts&);
ordered_json show_token(const std::string& token);
ordered_json show_destinations(const ForwardConfig& forward);
ordered_json show_parents(const std::shared_ptr<const UpstreamGroupConfig>& parents);
ordered_json show_no_proxy(const NoProxy& no_proxy);
ordered_json show_disk(const std::vector<DiskConfig>& disk);
ordered_json show_keys(const Texts& keys);
ordered_json show_endpoint(const CollectorUrl& endpoint);

/// Returns what is wrong with a path that must be absolute; empty: nothing.
std::string fault_of_path(const std::string& path);
std::string fault_of_log_destination(const std::string& text);

void check_certificates(ConfigSection&, Config&);
void check_token_for(ConfigSection&, Config&);
void check_proxy_protocol(ConfigSection&, Config&);
void check_blocklists(ConfigSection&, Config&);
void check_users(ConfigSection&, Config&);
void check_realm(ConfigSection&, Config&);
void check_bandwidth(ConfigSection&, Config&);
void check_peer_bandwidth(ConfigSection&, Config&);
void check_parents(ConfigSection&, Config&);
void raise_object_max(ConfigSection&, Config&);
void check_slice_from(ConfigSection&, Config&);
void check_block(ConfigSection&, Config&);
void choose_peer_lines(ConfigSection&, Config&);
void check_heads(ConfigSection&, Config&);
void check_per_address(ConfigSection&, Config&);

}  // namespace proxy::settings
