#pragma once

#include <nlohmann/json_fwd.hpp>

#include "proxy/config/config.hpp"
#include "proxy/config/config_section.hpp"

/// Readers and printers of the settings with a grammar of their own, and the rules that several
/// settings share. Only the table of settings calls them (setting_table.cpp). A reader takes its
/// key from the section. It reports a fault and leaves the default then.
namespace proxy::settings {

using nlohmann::ordered_json;

void read_name(ConfigContext&, ConfigSection&, Config&);
void read_token(ConfigContext&, ConfigSection&, Config&);
void read_certificates(ConfigContext&, ConfigSection&, Config&);
void read_admin_names(ConfigContext&, ConfigSection&, Config&);
void read_connect_ports(ConfigContext&, ConfigSection&, Config&);
void read_destinations(ConfigContext&, ConfigSection&, Config&);
void read_blocklist_list(ConfigContext&, ConfigSection&, Config&);
void read_allowed_destinations(ConfigContext&, ConfigSection&, Config&);
void read_denied_destinations(ConfigContext&, ConfigSection&, Config&);
void read_intercepted_hosts(ConfigContext&, ConfigSection&, Config&);
void read_intercepted_ports(ConfigContext&, ConfigSection&, Config&);
void read_parent_list(ConfigContext&, ConfigSection&, Config&);
void read_no_proxy_list(ConfigContext&, ConfigSection&, Config&);
void read_dropped(ConfigContext&, ConfigSection&, Config&);
void read_upgrade(ConfigContext&, ConfigSection&, Config&);
void read_sites(ConfigContext&, ConfigSection&, Config&);
void read_rule_list(ConfigContext&, ConfigSection&, Config&);
void read_directories(ConfigContext&, ConfigSection&, Config&);
/// Reads `key` and `keys`.
void read_keys(ConfigContext&, ConfigSection&, Config&);
void read_peer_list(ConfigContext&, ConfigSection&, Config&);
void read_endpoint(ConfigContext&, ConfigSection&, Config&);

ordered_json show_nothing(const Config&);
ordered_json show_name(const Config&);
ordered_json show_token(const Config&);
ordered_json show_certificates(const Config&);
ordered_json show_admin_names(const Config&);
ordered_json show_connect_ports(const Config&);
ordered_json show_destinations(const Config&);
ordered_json show_blocklists(const Config&);
ordered_json show_allowed_destinations(const Config&);
ordered_json show_denied_destinations(const Config&);
ordered_json show_intercepted_hosts(const Config&);
ordered_json show_intercepted_ports(const Config&);
ordered_json show_parents(const Config&);
ordered_json show_no_proxy(const Config&);
ordered_json show_dropped(const Config&);
ordered_json show_upgrade(const Config&);
ordered_json show_sites(const Config&);
ordered_json show_rules(const Config&);
ordered_json show_directories(const Config&);
ordered_json show_keys(const Config&);
ordered_json show_peers(const Config&);
ordered_json show_endpoint(const Config&);

void check_certificates(ConfigContext&, ConfigSection&, Config&);
void check_token_for(ConfigContext&, ConfigSection&, Config&);
void check_proxy_protocol(ConfigContext&, ConfigSection&, Config&);
void check_blocklists(ConfigContext&, ConfigSection&, Config&);
void check_users(ConfigContext&, ConfigSection&, Config&);
void check_realm(ConfigContext&, ConfigSection&, Config&);
void check_bandwidth(ConfigContext&, ConfigSection&, Config&);
void check_parents(ConfigContext&, ConfigSection&, Config&);
void raise_object_max(ConfigContext&, ConfigSection&, Config&);
void check_slice_from(ConfigContext&, ConfigSection&, Config&);
void check_block(ConfigContext&, ConfigSection&, Config&);
void choose_peer_lines(ConfigContext&, ConfigSection&, Config&);
void check_heads(ConfigContext&, ConfigSection&, Config&);
void check_per_address(ConfigContext&, ConfigSection&, Config&);

}  // namespace proxy::settings
