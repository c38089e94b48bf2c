#include "tests/app/reference_pages.hpp"

#include <cctype>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>

#include "proxy/admin/metrics_text.hpp"
#include "proxy/admin/node_status.hpp"
#include "proxy/admin/status_json.hpp"
#include "proxy/config/config_json.hpp"
#include "proxy/config/config_values.hpp"
#include "proxy/config/setting.hpp"

namespace app::test {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using proxy::Setting;

/// A status in which every field has a value.
proxy::NodeStatus full_status() {
    proxy::NodeStatus status;
    status.node = "a";
    auto& cluster = status.cluster;
    auto& peer = cluster.peers.emplace_back();
    peer.node = "b";
    peer.state = protocol::PeerState::in_sync;
    cluster.names.emplace_back().name = "n";
    cluster.origins.emplace_back().place = "o:80";
    cluster.link_refusals["wrong_key"] = 1;
    status.disk.emplace_back().path = "/d";
    status.tls.certificates.push_back({"/c.pem", {"a.example"}, "EC", 0, 0});
    status.blocklists.lists.push_back({"/l", "hosts", "refuse", 0, 0});
    status.upstreams.push_back({"*", "a:1", "up"});
    status.answers.push_back({{"a:1", {}, {}}, "a.example"});
    status.leaving = {{{"a.example", "cdn.example", 1}}, {{"a.example", 1}}};
    return status;
}

std::string cell(std::string text) {
    for (auto at = text.find('|'); at != text.npos; at = text.find('|', at + 2))
        text.insert(at, "\\");
    return text;
}

std::string code(std::string_view text) {
    return "`" + std::string(text) + "`";
}

/// The name in a marker `<!-- generated: NAME -->`, or nothing for another line.
std::optional<std::string> marked(const std::string& line) {
    const std::string begin = "<!-- generated: ", end = " -->";
    if (!line.starts_with(begin) || !line.ends_with(end)) return std::nullopt;
    return line.substr(begin.size(), line.size() - begin.size() - end.size());
}

/// The page with each line, and each text between a marker and `<!-- end -->`, as the functions
/// return it.
template <typename Line, typename Part>
std::string rewritten(const std::string& page, Line line_of, Part part_of) {
    std::string out;
    std::istringstream in(page);
    for (std::string line; std::getline(in, line);) {
        out += line_of(line) + "\n";
        const auto name = marked(line);
        if (!name) continue;
        out += "\n" + part_of(*name) + "\n<!-- end -->\n";
        while (std::getline(in, line) && line != "<!-- end -->") {
        }
    }
    return out;
}

std::string unchanged(const std::string& line) {
    return line;
}

/// The name in the first cell of a row of a table, or an empty string.
std::string name_in(const std::string& row) {
    return row.starts_with("| `") ? row.substr(3, row.find('`', 3) - 3) : std::string();
}

/// Describes the values of a row: type, then bounds.
struct SettingText {
    std::string operator()(const proxy::SizeValue& value) const {
        return "size, " + proxy::format_size(value.low) + " to " + proxy::format_size(value.high);
    }
    std::string operator()(const proxy::CountValue& value) const {
        return "whole number, " + std::to_string(value.low) + " to " + std::to_string(value.high);
    }
    std::string operator()(const proxy::DurationValue& value) const {
        return "duration, " + proxy::format_duration(value.low) + " to " +
               proxy::format_duration(value.high);
    }
    std::string operator()(const proxy::FractionValue& value) const {
        return "number above " + json(value.low).dump() + ", at most " + json(value.high).dump();
    }
    std::string operator()(const proxy::FlagValue&) const { return "boolean"; }
    std::string operator()(const proxy::ChoiceValue& value) const {
        std::string out;
        for (const auto& word : value.words) out += (out.empty() ? "" : ", ") + code(word);
        return "one of " + out;
    }
    std::string operator()(const proxy::EndpointValue&) const { return "`host:port`"; }
    std::string operator()(const proxy::TextValue& value) const { return std::string(value.kind); }
    std::string operator()(const proxy::PrefixesValue&) const { return "list of prefixes"; }
    std::string operator()(const proxy::SectionValue& value) const {
        return value.remove != nullptr ? "object or `null`" : "object";
    }
    std::string operator()(const proxy::ListValue&) const { return "list of objects"; }
    std::string operator()(const proxy::SpecialValue& value) const {
        return std::string(value.kind);
    }
    std::string operator()(const proxy::ElementValue& value) const {
        return std::string(value.kind);
    }
};

/// All defaults, optional sections present. Those of the elements of a list are under its path:
/// `rules[]`.
ordered_json defaults() {
    proxy::Config config;
    config.tls.emplace();
    config.cluster.emplace();
    config.forward.authentication.emplace();
    config.forward.intercept.emplace();
    config.tracing.emplace();
    auto all = proxy::config_json(config);
    const auto add = [&](const char* path, const auto& element) {
        all[path] = proxy::members_json(element, path);
    };
    add("tls.certificates[]", proxy::CertificateFiles());
    add("forward.blocklists[]", proxy::BlocklistConfig());
    add("rules[]", proxy::Rule());
    return all;
}

const ordered_json* find_in(const ordered_json& all, std::string_view path) {
    const auto* at = &all;
    while (!path.empty()) {
        const auto dot = path.find('.', path.rfind(']') + 1);
        const auto found = at->find(std::string(path.substr(0, dot)));
        if (found == at->end()) return nullptr;
        at = &*found;
        path = dot == path.npos ? std::string_view() : path.substr(dot + 1);
    }
    return at;
}

bool is_section(const Setting& setting) {
    return std::holds_alternative<proxy::SectionValue>(setting.value);
}

/// A member of a list's elements whose default is no plain value.
bool is_free_member(const Setting& setting) {
    return std::holds_alternative<proxy::ElementValue>(setting.value) ||
           (std::holds_alternative<proxy::SpecialValue>(setting.value) &&
            setting.path.find(']') != setting.path.npos);
}

std::string default_of(const Setting& setting, const ordered_json& all) {
    if (setting.required) return "required";
    if (!setting.default_text.empty()) return std::string(setting.default_text);
    if (is_section(setting) || is_free_member(setting)) return "";
    const auto* value = find_in(all, setting.path);
    if (value == nullptr) return "none";
    if (value->is_array()) {
        std::string out;
        for (const auto& each : *value)
            out += (out.empty() ? "" : ", ") +
                   code(each.is_string() ? each.get<std::string>() : each.dump());
        return out.empty() ? "`[]`" : out;
    }
    return code(value->is_string() ? value->get<std::string>() : value->dump());
}

}  // namespace

namespace {

std::string setting_tables() {
    const auto all = defaults();
    const std::string head =
        "| setting | values | default | change | meaning |\n|---|---|---|---|---|\n";
    auto text = "## The node\n\n" + head;
    auto is_first_part = true;  // the settings above all sections
    for (const auto& setting : proxy::setting_table()) {
        const auto top = setting.path.find('.') == setting.path.npos;
        if (top && is_section(setting)) {
            text += "\n## " + std::string(setting.path) + "\n\n" + std::string(setting.help) +
                    (setting.effect == proxy::Effect::after_restart
                         ? " Adding or removing the section needs a restart."
                         : "") +
                    "\n\n" + head;
            is_first_part = false;
            continue;
        }
        if (top && !is_first_part) text += "\n## " + std::string(setting.path) + "\n\n" + head;
        text += "| " + code(setting.path) + " | " + cell(std::visit(SettingText(), setting.value)) +
                " | " + cell(default_of(setting, all)) + " | " +
                (is_section(setting)                          ? ""
                 : setting.effect == proxy::Effect::on_reload ? "reload"
                                                              : "restart") +
                " | " + cell(std::string(setting.help)) + " |\n";
    }
    return text;
}

}  // namespace

std::string settings_page(const std::string& page) {
    return rewritten(page, unchanged, [](const std::string&) { return setting_tables(); });
}

ReferencePage metrics_page(const std::string& page) {
    struct Family {
        std::string type;
        std::set<std::string> labels;
        bool seen = false;
    };
    std::map<std::string, Family> families;
    std::istringstream in(proxy::metrics_text(full_status()));
    std::string current;
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with("# TYPE ")) {
            const auto space = line.find(' ', 7);
            current = line.substr(7, space - 7);
            families[current].type = line.substr(space + 1);
        } else if (!line.starts_with("#") && line.find('{') != line.npos) {
            auto labels = line.substr(line.find('{') + 1);
            for (auto at = labels.find("=\""); at != labels.npos; at = labels.find("=\"", at + 2)) {
                auto begin = at;
                while (begin > 0 && (std::isalnum(static_cast<unsigned char>(labels[begin - 1])) ||
                                     labels[begin - 1] == '_'))
                    --begin;
                const auto name = labels.substr(begin, at - begin);
                if (name != "le") families[current].labels.insert(name);
            }
        }
    }
    ReferencePage made;
    const auto with_type = [&](const std::string& line) {
        const auto name = name_in(line);
        if (name.empty()) return line;
        const auto family = families.find(name);
        if (family == families.end()) {
            made.unknown.push_back(name);
            return line;
        }
        family->second.seen = true;
        std::string labels;
        for (const auto& label : family->second.labels)
            labels += (labels.empty() ? "" : ", ") + code(label);
        const auto labels_end = line.find('|', line.find('|', line.find('|', 1) + 1) + 1);
        return "| " + code(name) + " | " + family->second.type + " | " + labels + " " +
               line.substr(labels_end);
    };
    made.text = rewritten(page, with_type, unchanged);
    for (const auto& [name, family] : families)
        if (!family.seen) made.missing.push_back(name);
    return made;
}

namespace {

void add_fields(const json& value, const std::string& path, std::vector<std::string>& out) {
    if (value.is_object() && !value.empty()) {
        for (const auto& [key, each] : value.items())
            add_fields(each, path.empty() ? key : path + "." + key, out);
    } else if (value.is_array() && !value.empty() && value.front().is_object()) {
        add_fields(value.front(), path + "[]", out);
    } else {
        out.push_back(path);
    }
}

}  // namespace

ReferencePage status_page(const std::string& page) {
    std::vector<std::string> fields;
    add_fields(json::parse(proxy::status_json(full_status())), "", fields);
    ReferencePage made;
    made.text = rewritten(
        page,
        [&](const std::string& line) {
            const auto name = name_in(line);
            // An object of counts has one row.
            const auto erased = std::erase_if(fields, [&](const std::string& field) {
                return field == name || field.starts_with(name + ".");
            });
            if (!name.empty() && erased == 0) made.unknown.push_back(name);
            return line;
        },
        unchanged);
    made.missing = fields;
    return made;
}

namespace {

/// Standard output of `program` with these arguments.
std::string output_of(const std::string& command) {
    std::string out;
    if (auto* pipe = ::popen(command.c_str(), "r")) {
        char buffer[4096];
        for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
            out.append(buffer, n);
        ::pclose(pipe);
    }
    return out;
}

/// The words that begin the lines below `heading`, up to the next heading.
std::vector<std::string> listed(const std::string& help, const std::string& heading) {
    std::vector<std::string> out;
    std::istringstream in(help);
    bool inside = false;
    for (std::string line; std::getline(in, line);) {
        if (!line.starts_with(" ")) inside = line == heading;
        if (inside && line.size() > 2 && line.starts_with("  ") && line[2] != ' ')
            out.push_back(line.substr(2, line.find(' ', 2) - 2));
    }
    return out;
}

/// Without the blanks at the ends of lines.
std::string trimmed(const std::string& text) {
    std::istringstream in(text);
    std::string out;
    for (std::string line; std::getline(in, line);) {
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + "\n";
    }
    while (out.ends_with("\n\n")) out.pop_back();
    while (out.starts_with("\n")) out.erase(0, 1);
    return out;
}

}  // namespace

ReferencePage cli_page(const std::string& program, const std::string& page) {
    const auto help = [&](const std::string& of) { return output_of("'" + program + "' " + of); };
    std::set<std::string> expected;  // "help run", "help run --config"
    for (const auto& command : listed(help("help"), "Subcommands:")) {
        expected.insert("help " + command);
        for (const auto& option : listed(help("help " + command), "Options:")) {
            const auto dashes = option.rfind(",--");
            const auto name = dashes == option.npos ? option : option.substr(dashes + 1);
            if (name != "--help") expected.insert("help " + command + " " + name);
        }
    }
    ReferencePage made;
    std::string section = "help";
    const auto see = [&](const std::string& name) {
        if (expected.erase(name) == 0) made.unknown.push_back(name);
    };
    const auto line_of = [&](const std::string& line) {
        if (const auto name = marked(line); name && *name != section) see(section = *name);
        if (section != "help" && line.starts_with("- `--"))
            see(section + " " + line.substr(3, line.find('`', 3) - 3));
        return line;
    };
    made.text = rewritten(page, line_of, [&](const std::string& name) {
        return "```\n" + trimmed(help(name)) + "```\n";
    });
    made.missing.assign(expected.begin(), expected.end());
    return made;
}

namespace {

const std::string kVariable = R"(.*\$\{.*)";

json ref(const std::string& name) {
    return {{"$ref", "#/definitions/" + name}};
}

/// The JSON values that a setting accepts.
struct SettingSchema {
    ordered_json operator()(const proxy::SizeValue&) const { return of("size"); }
    ordered_json operator()(const proxy::DurationValue&) const { return of("duration"); }
    ordered_json operator()(const proxy::EndpointValue&) const { return of("endpoint"); }
    ordered_json operator()(const proxy::PrefixesValue&) const { return of("prefixes"); }
    ordered_json operator()(const proxy::CountValue& value) const {
        return {{"type", "integer"}, {"minimum", value.low}, {"maximum", value.high}};
    }
    ordered_json operator()(const proxy::FractionValue& value) const {
        return {{"type", "number"}, {"exclusiveMinimum", value.low}, {"maximum", value.high}};
    }
    ordered_json operator()(const proxy::FlagValue&) const { return {{"type", "boolean"}}; }
    ordered_json operator()(const proxy::ChoiceValue& value) const {
        return {{"anyOf", json::array({{{"enum", std::vector<std::string>(value.words.begin(),
                                                                          value.words.end())}},
                                       {{"type", "string"}, {"pattern", kVariable}}})}};
    }
    ordered_json operator()(const proxy::TextValue&) const {
        return {{"type", "string"}, {"minLength", 1}};
    }
    ordered_json operator()(const proxy::SectionValue&) const { return {{"type", "object"}}; }
    ordered_json operator()(const proxy::ListValue& value) const {
        return {{"type", "array"}, {"maxItems", value.most}};
    }
    ordered_json operator()(const proxy::SpecialValue&) const { return nullptr; }
    ordered_json operator()(const proxy::ElementValue&) const { return nullptr; }

    static ordered_json of(const std::string& name) {
        return {{"allOf", json::array({ref(name)})}};
    }
};

/// The grammars missing from the table, by path, and the definitions that several settings share.
const json& written_schema() {
    static const auto all = json::parse(R"json({
"": {
  "anyOf": [
    {"required": ["origins"], "properties": {"origins": {"minItems": 1}}},
    {"required": ["forward"], "properties": {"forward": {"required": ["enabled"], "properties": {"enabled": {"const": true}}}}}
  ]
},
"admin": {"if": {"properties": {"token_for": {"const": "all"}}, "required": ["token_for"]}, "then": {"required": ["token"]}},
"clients": {"if": {"properties": {"proxy_protocol": {"const": true}}, "required": ["proxy_protocol"]}, "then": {"required": ["trusted_proxies"]}},
"tls": {"dependencies": {"certificate": ["key"], "key": ["certificate"]}, "anyOf": [
  {"required": ["certificate"]},
  {"required": ["certificates"], "properties": {"certificates": {"minItems": 1}}}]},
"cluster": {"required": ["listen"], "oneOf": [{"required": ["key"]}, {"required": ["keys"]}]},
"node": {"allOf": [{"$ref": "#/definitions/node"}]},
"admin.token": {"type": "string", "pattern": "^([-._~+/0-9A-Za-z]{16,1024}=*|.*\\$\\{.*)$"},
"admin.names": {"type": "array", "maxItems": 64, "items": {"type": "string", "minLength": 1}},
"forward.authentication.users": {"pattern": "^(/.*|.*\\$\\{.*)$"},
"forward.authentication.realm": {"pattern": "^([ -~]{1,128}|.*\\$\\{.*)$"},
"forward.destinations.allow": {"$ref": "#/definitions/places"},
"forward.destinations.deny": {"$ref": "#/definitions/places"},
"forward.intercept.hosts": {"type": "array", "minItems": 1, "maxItems": 1024, "items": {"type": "string", "pattern": "^([^/?#@%:\\[ ]+|.*\\$\\{.*)$", "maxLength": 512}},
"forward.intercept.ports": {"type": "array", "minItems": 1, "items": {"type": "integer", "minimum": 1, "maximum": 65535}},
"forward.connect_ports": {"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 65535}},
"forward.private_destinations": {"anyOf": [{"enum": ["deny", "allow"]}, {"type": "string", "pattern": ".*\\$\\{.*"}, {"$ref": "#/definitions/prefixes"}]},
"forward.blocklists[].path": {"pattern": "^(/.*|.*\\$\\{.*)$"},
"forward.blocklist_folder": {"pattern": "^(/.*|.*\\$\\{.*)$"},
"forward.parent": {"type": "array", "maxItems": 64, "items": {"type": "string", "pattern": "^([Hh][Tt][Tt][Pp][Ss]?://([^/?#@]*@)?[^/?#@]+:[0-9]{1,5}/?|.*\\$\\{.*)$"}},
"forward.no_proxy": {"type": "array", "maxItems": 256, "items": {"type": "string", "minLength": 1, "maxLength": 1024}},
"forwarded.drop": {"type": "array", "maxItems": 64, "items": {"$ref": "#/definitions/token"}},
"tracing.endpoint": {"type": "string", "pattern": "^([Hh][Tt][Tt][Pp][Ss]?://[^/?#@ ]+([/?][^#@ ]*)?|.*\\$\\{.*)$"},
"upgrade": {"type": "array", "maxItems": 16, "items": {"$ref": "#/definitions/token"}},
"origins": {"type": "array", "items": {
  "type": "object",
  "properties": {
    "host": {"type": "string", "minLength": 1},
    "path": {"type": "string", "pattern": "^(/[^?*# ]*|.*\\$\\{.*)$"},
    "url": {"$ref": "#/definitions/mirrored"},
    "upstreams": {"type": "array", "minItems": 1, "maxItems": 64, "items": {"type": "object", "properties": {
      "url": {"$ref": "#/definitions/mirrored"},
      "weight": {"type": "integer", "minimum": 1, "maximum": 256, "default": 1},
      "backup": {"type": "boolean", "default": false}}, "required": ["url"], "additionalProperties": false}},
    "balance": {"anyOf": [{"enum": ["round_robin", "least_in_flight", "rendezvous"]}, {"type": "string", "pattern": ".*\\$\\{.*"}]},
    "slow_start": {"$ref": "#/definitions/duration"},
    "health": {"type": "object", "properties": {
      "path": {"type": "string", "pattern": "^(/[^ ]*|.*\\$\\{.*)$"},
      "every": {"$ref": "#/definitions/duration"},
      "timeout": {"$ref": "#/definitions/duration"},
      "expect": {"type": "array", "minItems": 1, "items": {"anyOf": [
        {"type": "integer", "minimum": 100, "maximum": 599}, {"type": "string", "pattern": "^([1-5]xx|[1-5][0-9][0-9](-[1-5][0-9][0-9])?)$"}]}}},
      "required": ["path"], "additionalProperties": false},
    "public": {"$ref": "#/definitions/mirrored"},
    "rewrite": {"type": "array", "items": {"enum": ["location", "links", "xet"]}, "default": ["location"]},
    "rewrite_up_to": {"$ref": "#/definitions/size"},
    "ns": {"type": "string", "minLength": 1},
    "tls": {"type": "object", "properties": {
      "verify": {"type": "boolean", "default": true},
      "ca": {"type": "string", "minLength": 1},
      "name": {"type": "string", "minLength": 1}}, "additionalProperties": false}
  },
  "if": {"required": ["tls"]},
  "then": {"properties": {
    "url": {"pattern": "^([Hh][Tt][Tt][Pp][Ss]://|.*\\$\\{)"},
    "upstreams": {"items": {"properties": {"url": {"pattern": "^([Hh][Tt][Tt][Pp][Ss]://|.*\\$\\{)"}}}}}},
  "allOf": [{"if": {"not": {"required": ["public"]}}, "then": {"properties": {
    "url": {"$ref": "#/definitions/origin"},
    "upstreams": {"items": {"properties": {"url": {"$ref": "#/definitions/origin"}}}}}}}],
  "required": ["host"], "oneOf": [{"required": ["url"]}, {"required": ["upstreams"]}],
  "dependencies": {"rewrite": ["public"], "rewrite_up_to": ["public"], "ns": ["public"], "balance": ["upstreams"], "slow_start": ["upstreams"], "health": ["upstreams"]},
  "additionalProperties": false}},
"rules": {"type": "array", "maxItems": 1024},
"rules[]": {"dependencies": {"stale_on": ["stale_if_error"], "redirect_fields": ["follow_redirects"]}},
"rules[].name": "node",
"rules[].match.hosts": "globs",
"rules[].match.paths": {"type": "array", "maxItems": 256, "items": {"type": "string", "pattern": "^([/*][^?]*|.*\\$\\{.*)$", "maxLength": 1024}},
"rules[].match.methods": {"type": "array", "maxItems": 256, "items": {"$ref": "#/definitions/token"}},
"rules[].fresh_for": {"anyOf": [{"$ref": "#/definitions/duration"}, {"type": "object",
  "patternProperties": {"^[2-5][0-9][0-9]$": {"$ref": "#/definitions/duration"}}, "additionalProperties": false}]},
"rules[].stale_on": {"type": "array", "maxItems": 256, "items": {"type": "integer", "minimum": 400, "maximum": 599}},
"rules[].authorize": {"const": "origin"},
"rules[].redirect_fields": "fields",
"rules[].ignore": {"type": "array", "maxItems": 256, "items": {"anyOf": [
  {"enum": ["no-store", "private", "no-cache", "set-cookie", "vary"]}, {"type": "string", "pattern": ".*\\$\\{.*"}]}},
"rules[].key_fields": "fields",
"rules[].query": {"anyOf": [{"const": "ignore"}, {"type": "object", "properties": {
  "keep": {"$ref": "#/definitions/globs"}, "drop": {"$ref": "#/definitions/globs"}, "sort": {"type": "boolean", "default": false}},
  "not": {"required": ["keep", "drop"]}, "additionalProperties": false}]},
"rules[].request_fields": "edits",
"rules[].response_fields": "edits",
"rules[].tags": {"type": "array", "maxItems": 256, "items": {"type": "string", "pattern": "^([!-~]+|.*\\$\\{.*)$", "maxLength": 1024}},
"cache.disk": {"anyOf": [{"$ref": "#/definitions/disk"}, {"type": "array", "items": {"$ref": "#/definitions/disk"}, "maxItems": 16}]},
"cluster.key": {"allOf": [{"$ref": "#/definitions/key"}]},
"cluster.keys": {"type": "array", "items": {"$ref": "#/definitions/key"}, "minItems": 1, "maxItems": 2},
"cluster.peers": {"type": "array", "maxItems": 1025, "items": {"anyOf": [
  {"type": "object", "properties": {
     "node": {"$ref": "#/definitions/node"}, "http": {"$ref": "#/definitions/endpoint"}, "link": {"$ref": "#/definitions/endpoint"}},
   "required": ["node", "http", "link"], "additionalProperties": false},
  {"type": "object", "properties": {
     "dns": {"type": "string", "minLength": 1, "maxLength": 253},
     "http": {"type": "integer", "minimum": 1, "maximum": 65535}, "link": {"type": "integer", "minimum": 1, "maximum": 65535}},
   "required": ["dns"], "dependencies": {"http": ["link"], "link": ["http"]}, "additionalProperties": false}]}},
"definitions": {
  "places": {"description": "hosts with a port or without; * stands for any text", "type": "array", "maxItems": 1024,
    "items": {"type": "string", "pattern": "^(\\[[^/?#@% \\]]+\\](:[0-9]{1,5})?|[^/?#@%:\\[ ]+(:[0-9]{1,5})?|.*\\$\\{.*)$", "maxLength": 512}},
  "mirrored": {"type": "string", "pattern": "^([Hh][Tt][Tt][Pp][Ss]?://[^?#@ ]+|.*\\$\\{.*)$"},
  "origin": {"type": "string", "pattern": "^([Hh][Tt][Tt][Pp][Ss]?://[^/@]+/?|.*\\$\\{.*)$"},
  "endpoint": {"type": "string", "description": "host:port, an IPv6 address in brackets", "pattern": "^(.+:[0-9]{1,5}|.*\\$\\{.*)$"},
  "duration": {"description": "a number with a unit, or a number of seconds", "anyOf": [
    {"type": "number", "minimum": 0}, {"type": "string", "pattern": "^([0-9]+(\\.[0-9]+)?(ns|us|ms|s|m|h|d)|.*\\$\\{.*)$"}]},
  "size": {"description": "a number with a unit, or a number of bytes", "anyOf": [
    {"type": "integer", "minimum": 0}, {"type": "string", "pattern": "^([0-9]+(\\.[0-9]+)?([KMGT]i?)?B|.*\\$\\{.*)$"}]},
  "node": {"type": "string", "pattern": "^([-!#$%&'*+.^_`|~0-9A-Za-z]{1,64}|.*\\$\\{.*)$"},
  "token": {"type": "string", "minLength": 1, "pattern": "^([-!#$%&'*+.^_`|~0-9A-Za-z]+|.*\\$\\{.*)$"},
  "fields": {"type": "array", "maxItems": 16, "items": {"$ref": "#/definitions/token"}},
  "key": {"type": "string", "description": "a secret that all nodes of the cluster share, at least 32 bytes; best as ${NAME}", "pattern": "^(.{32,}|.*\\$\\{.*)$"},
  "disk": {"type": "object", "properties": {
    "path": {"type": "string", "pattern": "^(/|.*\\$\\{)"}, "size": {"$ref": "#/definitions/size"}},
    "required": ["path", "size"], "additionalProperties": false},
  "globs": {"type": "array", "maxItems": 256, "items": {"type": "string", "minLength": 1, "maxLength": 1024}, "description": "texts in which * stands for any bytes"},
  "edits": {"type": "object", "properties": {
    "set": {"$ref": "#/definitions/lines"}, "add": {"$ref": "#/definitions/lines"},
    "remove": {"type": "array", "maxItems": 256, "items": {"$ref": "#/definitions/token"}}}, "additionalProperties": false},
  "lines": {"type": "object", "maxProperties": 256, "additionalProperties": {"type": "string", "maxLength": 1024}},
  "prefixes": {"type": "array", "maxItems": 256, "items": {"type": "string", "minLength": 1}, "description": "addresses and prefixes, such as 10.0.0.7 or fd00::/8"}
}})json");
    return all;
}

/// Adds a value on one line if it fits, else each member on lines of its own. `used`: columns
/// before it.
void print(const ordered_json& value, std::size_t indent, std::size_t used, std::string& out) {
    constexpr std::size_t kColumns = 140, kIndent = 2;
    const auto line = value.dump();
    if (used + line.size() <= kColumns || !value.is_structured() || value.empty()) {
        out += line;
        return;
    }
    const auto is_object = value.is_object();
    auto first = true;
    for (const auto& [key, member] : value.items()) {
        out += (first ? (is_object ? "{\n" : "[\n") : ",\n") + std::string(indent + kIndent, ' ');
        first = false;
        const auto name = is_object ? json(key).dump() + ": " : std::string();
        out += name;
        print(member, indent + kIndent, indent + kIndent + name.size(), out);
    }
    out += "\n" + std::string(indent, ' ') + (is_object ? "}" : "]");
}

/// Settings whose default varies, or follows from another setting.
bool has_fixed_default(const Setting& setting) {
    return !setting.required && setting.path != "node" && setting.path != "log.peers" &&
           setting.path != "cluster.keys" && !is_free_member(setting);
}

/// Adds what written_schema() has under this path.
void add_written(std::string_view path, ordered_json& schema) {
    const auto written = written_schema().find(std::string(path));
    if (written == written_schema().end()) return;
    if (written->is_string())
        schema.update(SettingSchema::of(written->get<std::string>()));
    else
        schema.update(*written);
}

ordered_json object_schema(std::string_view path, ordered_json schema, const ordered_json& all);

ordered_json setting_schema(const Setting& setting, const ordered_json& all) {
    auto schema = std::visit(SettingSchema(), setting.value);
    if (schema.is_null()) add_written(setting.path, schema);
    schema["description"] = std::string(setting.help);
    if (const auto* section = std::get_if<proxy::SectionValue>(&setting.value)) {
        schema = object_schema(setting.path, std::move(schema), all);
        if (section->remove == nullptr) return schema;
        schema.erase("description");
        return {{"description", std::string(setting.help)},
                {"anyOf", ordered_json::array({{{"type", "null"}}, schema})}};
    }
    if (schema.value("type", "") == "array" && !schema.contains("items"))
        schema["items"] = object_schema(setting.path_of_elements(), {{"type", "object"}}, all);
    if (has_fixed_default(setting))
        if (const auto* value = find_in(all, setting.path)) schema["default"] = *value;
    add_written(setting.path, schema);
    return schema;
}

/// Adds the members of an object to its schema: those with rows below `path`.
ordered_json object_schema(std::string_view path, ordered_json schema, const ordered_json& all) {
    auto properties = ordered_json::object();
    auto required = json::array();
    for (const auto& setting : proxy::setting_table()) {
        if (setting.parent() != path || std::holds_alternative<proxy::ElementValue>(setting.value))
            continue;
        properties[std::string(setting.key())] = setting_schema(setting, all);
        if (setting.required) required.push_back(setting.key());
    }
    if (path.empty()) properties["$schema"] = {{"type", "string"}};
    schema["properties"] = std::move(properties);
    if (!required.empty()) schema["required"] = std::move(required);
    add_written(path, schema);
    schema["additionalProperties"] = false;
    return schema;
}

}  // namespace

std::string config_schema() {
    ordered_json out{
        {"$schema", "http://json-schema.org/draft-07/schema#"},
        {"title", "hearsay configuration"},
        {"description",
         "Strings may contain ${NAME}, which is replaced by that environment variable. Whole "
         "numbers and booleans are no strings, so they cannot come from the environment."},
        {"type", "object"}};
    out = object_schema({}, std::move(out), defaults());
    out["definitions"] = written_schema().at("definitions");
    std::string text;
    print(out, 0, 0, text);
    return text + "\n";
}

}  // namespace app::test
