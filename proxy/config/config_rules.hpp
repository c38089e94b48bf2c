#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/config/config_section.hpp"

namespace proxy {

inline constexpr auto kLongestSpan = std::chrono::hours(24 * 3650);  // of a rule or of `cache`

/// True for a field that this node writes itself, or that defines the meaning of a message: no rule
/// may change it.
bool is_own_field(std::string_view name);

/// Reads `rules`. An element with a fault is reported, and the others are read all the same.
void read_rules(ConfigSection& root, std::string_view key, RuleTable& out);

/// The rules as the configuration in effect shows them: with the members that are set.
nlohmann::ordered_json rules_json(const RuleTable& rules);

/// The readers and printers of members of a rule, as in special_settings.hpp.
namespace settings {

using nlohmann::ordered_json;
using Lifetimes = std::vector<std::pair<unsigned, std::chrono::seconds>>;  // by status

std::string fault_of_rule_name(const std::string& name);
void read_hosts(ConfigSection&, std::string_view key, std::vector<Glob>& out);
void read_paths(ConfigSection&, std::string_view key, std::vector<Glob>& out);
void read_methods(ConfigSection&, std::string_view key, std::vector<std::string>& out);
/// A span, or an object of spans by status.
void read_fresh_for(ConfigSection&, std::string_view key, Lifetimes& out);
void read_stale_on(ConfigSection&, std::string_view key, std::vector<unsigned>& out);
void read_authorize(ConfigSection&, std::string_view key, bool& out);
void read_ignored(ConfigSection&, std::string_view key, IgnoredDirectives& out);
void read_key_fields(ConfigSection&, std::string_view key, std::vector<std::string>& out);
void read_redirect_fields(ConfigSection&, std::string_view key, std::vector<std::string>& out);
/// `keep` or `drop` with names, or the word `ignore`.
void read_query(ConfigSection&, std::string_view key, QueryRule& out);
void read_edits(ConfigSection&, std::string_view key, FieldEdits& out);
void read_tags(ConfigSection&, std::string_view key, std::vector<std::string>& out);

ordered_json texts_of_globs(const std::vector<Glob>& globs);
ordered_json show_fresh_for(const Lifetimes& lifetimes);
ordered_json show_authorize(const bool& on);
ordered_json show_ignored(const IgnoredDirectives& ignored);
ordered_json show_query(const QueryRule& query);
ordered_json show_edits(const FieldEdits& edits);

void check_lifetimes(ConfigSection&, Rule& rule);
void check_redirects(ConfigSection&, Rule& rule);

}  // namespace settings
}  // namespace proxy
