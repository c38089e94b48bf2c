#include "proxy/config/config_section.hpp"

#include "base/text/utf8.hpp"
#include "proxy/config/config_values.hpp"
#include "proxy/http/field_list.hpp"

#include <algorithm>
#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>

namespace proxy {

namespace {

const nlohmann::json kNothing = nlohmann::json::object();

std::string wrong_type(std::string_view wanted, const nlohmann::json& value) {
    return std::string("must be ").append(wanted).append(", not ").append(kind_of(value));
}

/// A string or number as the file has it, with variables by name, or its beginning.
std::string as_written(const nlohmann::json& value) {
    constexpr std::size_t kMostShown = 64;
    auto text = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
    if (text.size() > kMostShown) text.replace(kMostShown, text.npos, "...");
    return text;
}

std::string number_text(double value) {
    return nlohmann::json(value).dump();
}

constexpr std::size_t kMostNamed = 3;  // keys in one hint

/// Words that other programs use, and the key of that meaning here.
struct ForeignWord {
    std::string_view theirs, ours;
};
constexpr ForeignWord kForeignWords[] = {
    {"address", "listen"},    {"backends", "upstreams"}, {"bind", "listen"},
    {"blacklist", "deny"},    {"max_age", "fresh_for"},  {"members", "peers"},
    {"nodes", "peers"},       {"port", "listen"},        {"secret", "key"},
    {"servers", "upstreams"}, {"siblings", "peers"},     {"threads", "workers"},
    {"ttl", "fresh_for"},     {"upstream", "upstreams"}, {"whitelist", "allow"},
};

std::string_view own_word(std::string_view key) {
    for (const auto& [theirs, ours] : kForeignWords)
        if (key == theirs) return ours;
    return {};
}

/// `$.rules[]` for `$.rules[3]`, as the table of settings has it.
std::string without_numbers(std::string_view path) {
    std::string out;
    for (std::size_t at = 0; at < path.size(); ++at) {
        out += path[at];
        if (path[at] == '[') at = std::min(path.find(']', at), path.size()) - 1;
    }
    return out;
}

/// Former settings that are constants now (constants.hpp).
constexpr std::string_view kNoSettings[] = {
    "$.cluster.peer_budget",     "$.cluster.peer_budget_min",
    "$.cluster.peer_budget_max", "$.cluster.peer_detour",
    "$.cluster.peer_stall",      "$.cluster.misses_per_sample",
    "$.summary.peer_max",        "$.tracing.queue_size",
    "$.tracing.batch_size",      "$.tracing.delay",
    "$.tracing.timeout",         "$.limits.head_lines",
    "$.limits.upstream_idle",    "$.limits.upstream_idle_per_origin",
    "$.limits.body_window",
};

/// The places of settings with a key of this name: `$.cache.disk` for `disk`. Those within the
/// section `path` come first.
std::vector<std::string> settings_elsewhere(std::span<const std::string> settings,
                                            std::string_view key, std::string_view path) {
    std::vector<std::string> found;
    for (const auto& setting : settings)
        if (setting.ends_with("." + std::string(key))) found.push_back(setting);
    const auto inside = without_numbers(path) + ".";
    std::stable_partition(found.begin(), found.end(),
                          [&](const std::string& setting) { return setting.starts_with(inside); });
    return found;
}

/// The list of such values within a member of a list: `$.rules[].match.hosts` for `host` in a rule.
std::string list_inside(std::span<const std::string> settings, std::string_view key,
                        std::string_view path) {
    if (!path.ends_with(']')) return {};
    const auto begin = without_numbers(path) + ".", end = "." + std::string(key) + "s";
    const auto found = std::ranges::find_if(settings, [&](const std::string& setting) {
        return setting.starts_with(begin) && setting.ends_with(end);
    });
    return found == settings.end() ? std::string() : *found;
}

/// The keys that were probably meant by an unknown one in the section `path`, whose keys are
/// `known`. The one other place of the key comes before a similar key, and a similar key before
/// several places and members of lists.
std::vector<std::string> meant_by(const std::string& key, std::span<const std::string> settings,
                                  std::string_view path, std::span<const std::string> known) {
    auto elsewhere = settings_elsewhere(settings, key, path);
    if (elsewhere.size() == 1 && elsewhere.front().find("[]") == std::string::npos)
        return elsewhere;
    if (const auto near = nearest_name(key, known); !near.empty()) return {std::string(near)};
    if (auto list = list_inside(settings, key, path); !list.empty()) return {std::move(list)};
    if (!elsewhere.empty()) return elsewhere;
    const auto ours = own_word(key);
    if (ours.empty()) return {};
    if (std::find(known.begin(), known.end(), ours) != known.end()) return {std::string(ours)};
    elsewhere = settings_elsewhere(settings, ours, path);
    if (elsewhere.size() > kMostNamed) return {};  // such as `listen`: it could be any of them
    return elsewhere;
}

/// `"a", "b" or "c"`; of more than kMostNamed the first ones.
std::string alternatives(std::span<const std::string> names) {
    const auto shown = std::min(names.size(), kMostNamed);
    std::string out;
    for (std::size_t i = 0; i < shown; ++i)
        out.append(i == 0           ? ""
                   : i + 1 == shown ? " or "
                                    : ", ")
            .append("\"")
            .append(names[i])
            .append("\"");
    return out;
}

}  // namespace

bool ConfigContext::failed(std::string_view path) const {
    return std::any_of(errors.begin(), errors.end(), [&](const ConfigError& error) {
        const std::string_view at = error.path;
        return at.starts_with(path) &&
               (at.size() == path.size() || at[path.size()] == '.' || at[path.size()] == '[');
    });
}

std::string subscript(const std::string& key) {
    if (is_token(key)) return "." + key;
    const auto quoted =
        nlohmann::json(key).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
    return "[" + quoted + "]";
}

std::string_view kind_of(const nlohmann::json& value) {
    switch (value.type()) {
        case nlohmann::json::value_t::null:
            return "null";
        case nlohmann::json::value_t::object:
            return "an object";
        case nlohmann::json::value_t::array:
            return "an array";
        case nlohmann::json::value_t::string:
            return "a string";
        case nlohmann::json::value_t::boolean:
            return "a boolean";
        default:
            return "a number";
    }
}

namespace {

/// The string with its variables replaced.
std::optional<std::string> expanded(ConfigContext& context, const nlohmann::json& value,
                                    const std::string& path) {
    if (!value.is_string()) {
        context.fail(path, wrong_type("a string", value));
        return std::nullopt;
    }
    auto expansion = expand_environment(value.get_ref<const std::string&>(), context.environment);
    if (!expansion.error.empty()) {
        context.fail(path, std::move(expansion.error));
        return std::nullopt;
    }
    if (has_bare_variable(value.get_ref<const std::string&>()))
        context.doubt(path, "has a $NAME that stays as it is; a variable is written ${NAME}");
    return std::move(expansion.text);
}

}  // namespace

std::optional<std::string> text_of(ConfigContext& context, const nlohmann::json& value,
                                   const std::string& path) {
    auto text = expanded(context, value, path);
    if (!text || base::is_utf8(*text)) return text;
    context.fail(path, "holds a byte that is no UTF-8");
    return std::nullopt;
}

std::optional<std::string> secret_of(ConfigContext& context, const nlohmann::json& value,
                                     const std::string& path) {
    auto secret = expanded(context, value, path);
    if (secret && value.get_ref<const std::string&>() == *secret)
        context.written_secrets.push_back(path);
    return secret;
}

ConfigSection::ConfigSection(ConfigContext& context, const nlohmann::json& value, std::string path)
    : context_(context), value_(&value), path_(std::move(path)) {
    if (!value.is_object()) {
        context_.fail(path_, wrong_type("an object", value));
        value_ = &kNothing;
    }
}

const nlohmann::json* ConfigSection::take(std::string_view key) {
    known_.emplace_back(key);
    const auto found = value_->find(known_.back());
    return found == value_->end() ? nullptr : &*found;
}

void ConfigSection::require(std::string_view key) {
    if (value_ != &kNothing && !has(key)) fail(key, "missing");
}

std::optional<std::string> ConfigSection::text(std::string_view key) {
    const auto* value = take(key);
    return value ? text_of(context_, *value, path(key)) : std::nullopt;
}

void ConfigSection::read(std::string_view key, std::string& out) {
    if (auto found = text(key)) out = std::move(*found);
}

void ConfigSection::read(std::string_view key, bool& out) {
    const auto* value = take(key);
    if (!value) return;
    if (!value->is_boolean()) return fail(key, wrong_type("true or false", *value));
    out = value->get<bool>();
}

void ConfigSection::read(std::string_view key, double& out, double low, double high) {
    const auto* value = take(key);
    if (!value) return;
    if (!value->is_number()) return fail(key, wrong_type("a number", *value));
    const auto number = value->get<double>();
    if (!(number > low && number <= high)) {
        return fail(key, "must be above " + number_text(low) + " and at most " + number_text(high));
    }
    out = number;
}

std::optional<std::uint64_t> ConfigSection::whole(std::string_view key, std::uint64_t low,
                                                  std::uint64_t high) {
    const auto* value = take(key);
    if (!value) return std::nullopt;
    if (!value->is_number()) {
        fail(key, wrong_type("a whole number", *value));
        return std::nullopt;
    }
    if (!value->is_number_unsigned() || value->get<std::uint64_t>() < low ||
        value->get<std::uint64_t>() > high) {
        fail(key,
             "must be a whole number from " + std::to_string(low) + " to " + std::to_string(high));
        return std::nullopt;
    }
    return value->get<std::uint64_t>();
}

std::optional<std::uint64_t> ConfigSection::size(std::string_view key, std::uint64_t low,
                                                 std::uint64_t high) {
    const auto* value = take(key);
    if (!value) return std::nullopt;
    std::optional<std::uint64_t> bytes;
    if (value->is_number_unsigned()) {
        bytes = value->get<std::uint64_t>();
    } else if (value->is_number()) {
        bytes = std::nullopt;
    } else if (const auto text = text_of(context_, *value, path(key))) {
        bytes = parse_size(*text);
    } else {
        return std::nullopt;
    }
    if (!bytes) {
        fail(key, as_written(*value) + " is no size; write it like \"512MiB\" (" + size_units() +
                      "), or a whole number of bytes");
    } else if (*bytes < low || *bytes > high) {
        fail(key, "must be from " + format_size(low) + " to " + format_size(high));
        bytes.reset();
    }
    return bytes;
}

void ConfigSection::read(std::string_view key, HostPort& out) {
    const auto found = text(key);
    if (!found) return;
    if (auto endpoint = parse_host_port(*found)) {
        out = std::move(*endpoint);
    } else {
        const auto colon = found->rfind(':');
        const auto port = colon == std::string::npos ? std::string() : found->substr(colon + 1);
        if (colon != 0 && !port.empty() &&
            port.find_first_not_of("0123456789") == std::string::npos &&
            parse_host_port(found->substr(0, colon) + ":1"))
            return fail(key, "has the port " + port + "; ports are 1 to 65535");
        fail(key, "is no host:port; write it like \"127.0.0.1:3128\" or \"[::1]:3128\"");
    }
}

void ConfigSection::read(std::string_view key, std::chrono::nanoseconds& out,
                         std::chrono::nanoseconds low, std::chrono::nanoseconds high) {
    const auto* value = take(key);
    if (!value) return;
    std::optional<std::chrono::nanoseconds> duration;
    if (value->is_number()) {
        duration = duration_of_seconds(value->get<double>());
    } else if (const auto text = text_of(context_, *value, path(key))) {
        duration = parse_duration(*text);
    } else {
        return;
    }
    if (!duration) {
        fail(key, as_written(*value) + " is no duration; write it like \"30s\" or \"50ms\" (" +
                      duration_units() + "), or a number of seconds");
    } else if (*duration < low || *duration > high) {
        fail(key, "must be from " + format_duration(low) + " to " + format_duration(high));
    } else {
        out = *duration;
    }
}

std::optional<ConfigSection> ConfigSection::section(std::string_view key) {
    const auto* value = take(key);
    if (!value) return std::nullopt;
    return ConfigSection(context_, *value, path(key));
}

std::vector<std::pair<const nlohmann::json*, std::string>> ConfigSection::elements(
    std::string_view key) {
    std::vector<std::pair<const nlohmann::json*, std::string>> found;
    const auto* value = take(key);
    if (!value) return found;
    if (!value->is_array()) {
        fail(key, wrong_type("an array", *value));
        return found;
    }
    for (const auto& element : *value) {
        found.emplace_back(&element, path(key) + "[" + std::to_string(found.size()) + "]");
    }
    return found;
}

void ConfigSection::done() {
    for (const auto& [key, value] : value_->items()) {
        if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
        if (std::ranges::find(kNoSettings, path_ + "." + key) != std::end(kNoSettings)) {
            context_.fail(path_ + subscript(key),
                          "is no setting any more, because one value suits every node: remove it");
            continue;
        }
        const auto meant = meant_by(key, context_.settings, path_, known_);
        context_.fail(path_ + subscript(key),
                      meant.empty() ? "unknown key"
                                    : "unknown key; did you mean " + alternatives(meant) + "?");
    }
}

std::optional<std::size_t> ConfigSection::choice(std::string_view key,
                                                 std::span<const std::string_view> words) {
    const auto word = text(key);
    if (!word) return std::nullopt;
    const auto found = std::find(words.begin(), words.end(), *word);
    if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
    std::string message = "must be one of";
    for (const auto& name : words)
        message.append(&name == words.data() ? " \"" : ", \"").append(name).append("\"");
    const std::vector<std::string> known(words.begin(), words.end());
    if (const auto near = nearest_name(*word, known); !near.empty())
        message.append("; did you mean \"").append(near).append("\"?");
    fail(key, std::move(message));
    return std::nullopt;
}

namespace {

/// The prefix that a text stands for, `10.0.0.0/8` for `10.0.0.7/8`; the text itself when it has
/// no bits beyond those.
std::string without_host_bits(const std::string& text) {
    namespace ip = boost::asio::ip;
    boost::system::error_code none;
    if (const auto v4 = ip::make_network_v4(text, none); !none)
        return v4.address() == v4.network() ? text : v4.canonical().to_string();
    if (const auto v6 = ip::make_network_v6(text, none); !none)
        return v6.address() == v6.network() ? text : v6.canonical().to_string();
    return text;
}

}  // namespace

void read_prefixes(ConfigSection& in, std::string_view key, PrefixList& out) {
    if (!in.has(key)) return void(in.take(key));
    const auto elements = in.elements(key);
    out.clear();
    for (const auto& [value, path] : elements) {
        const auto prefix = text_of(in.context(), *value, path);
        if (!prefix) continue;
        if (!out.add(*prefix))
            in.context().fail(path, "must be an address or a prefix, such as 10.0.0.7 or fd00::/8");
        else if (const auto whole = without_host_bits(*prefix); whole != *prefix)
            in.context().doubt(path, "stands for all of " + whole);
    }
    if (elements.size() > kMaxPrefixes)
        in.fail(key, "must have at most " + std::to_string(kMaxPrefixes) + " elements");
}

}  // namespace proxy
