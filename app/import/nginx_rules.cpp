#include "app/import/nginx_rules.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "app/import/regex_globs.hpp"
#include "proxy/http/field_list.hpp"

namespace app {
namespace {

using Json = ImportDraft::Json;

bool is_variable_byte(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// The names of the variables in a text.
std::vector<std::string> variables_of(std::string_view text) {
    std::vector<std::string> out;
    for (auto at = text.find('$'); at != std::string_view::npos; at = text.find('$', at)) {
        ++at;
        if (text.substr(at, 1) == "{") ++at;
        auto end = at;
        while (end < text.size() && is_variable_byte(text[end])) ++end;
        out.emplace_back(text.substr(at, end - at));
        at = end;
    }
    return out;
}

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

class NginxRule {
public:
    NginxRule(const NginxScope& scope, const NginxZones& zones, ImportDraft& draft)
        : scope_(scope), zones_(zones), draft_(draft) {}

    Json run() {
        fields();
        const auto zone = scope_.word("proxy_cache");
        if (zone.empty() || zone == "off") {
            rule_["bypass"] = true;
            return std::move(rule_);
        }
        if (const auto known = zones_.find(zone); known != zones_.end()) inactive_ = known->second;
        Json fields_alone = rule_;
        if (!key() || !exceptions() || !lifetimes()) {
            fields_alone["bypass"] = true;
            return fields_alone;
        }
        stale();
        return std::move(rule_);
    }

private:
    /// False if the key has parts that hearsay does not tell apart.
    bool key() {
        constexpr std::array<std::string_view, 16> kInKey{
            "scheme",         "proxy_host",   "host",        "http_host", "server_name",
            "server_port",    "hostname",     "uri",         "is_args",   "document_uri",
            "request_method", "request_body", "slice_range", "",          "server_addr",
            "proxy_port"};
        constexpr std::array<std::string_view, 3> kWhole{"request_uri", "args", "query_string"};
        const auto lines = scope_.nearest("proxy_cache_key");
        if (lines.empty()) return true;
        const auto& line = *lines.back();
        bool whole = false;
        std::vector<std::string> kept;
        for (const auto& name : variables_of(scope_.replaced(line.rest(0)))) {
            if (is_one_of(kWhole, name)) {
                whole = true;
            } else if (name.starts_with("arg_")) {
                kept.push_back(name.substr(4));
            } else if (!is_one_of(kInKey, name)) {
                draft_.warn(line, "the key of hearsay is the URL, without $" + name +
                                      ". Closed: the location bypasses the cache; let the origin "
                                      "send Vary");
                return false;
            }
        }
        if (whole) return true;
        if (kept.empty())
            rule_["query"] = "ignore";
        else
            rule_["query"]["keep"] = kept;
        return true;
    }

    /// proxy_no_cache and proxy_cache_bypass. False if responses for one client could be stored.
    bool exceptions() {
        // hearsay obeys these statements of a client, or stores no such response.
        constexpr std::array<std::string_view, 7> kObeyed{
            "http_pragma", "http_cache_control",       "http_authorization", "http_upgrade",
            "http_range",  "upstream_http_set_cookie", "http_x_no_cache"};
        for (const auto* line : scope_.nearest("proxy_no_cache"))
            for (const auto& name : variables_of(scope_.replaced(line->rest(0)))) {
                if (is_one_of(kObeyed, name)) continue;
                if (name.starts_with("arg_")) {
                    draft_.leave_out(*line, "rules match by path, not by query");
                    continue;
                }
                draft_.warn(*line, "rules match by host, path and method, not by $" + name +
                                       ". Closed: the location bypasses the cache; let the origin "
                                       "send Cache-Control: private");
                return false;
            }
        for (const auto* line : scope_.nearest("proxy_cache_bypass"))
            for (const auto& name : variables_of(scope_.replaced(line->rest(0))))
                if (!is_one_of(kObeyed, name)) {
                    draft_.leave_out(*line,
                                     "such requests get the stored response; clients may send "
                                     "Cache-Control: no-cache");
                    break;
                }
        return true;
    }

    /// False if nginx would store nothing.
    bool lifetimes() {
        bool no_control = false, no_expires = false;
        std::vector<std::string> ignored;
        for (const auto* line : scope_.nearest("proxy_ignore_headers"))
            for (const auto& word : line->words) {
                if (proxy::iequals(word.text, "Cache-Control")) no_control = true;
                if (proxy::iequals(word.text, "Expires")) no_expires = true;
                if (proxy::iequals(word.text, "Set-Cookie")) ignored.emplace_back("set-cookie");
                if (proxy::iequals(word.text, "Vary")) ignored.emplace_back("vary");
            }
        const auto lines = scope_.nearest("proxy_cache_valid");
        if (no_control && lines.empty()) return false;
        Json spans = Json::object();
        for (const auto* line : lines) add_valid(*line, spans);
        if (no_control && no_expires) {
            if (!spans.empty()) rule_["fresh_for"] = spans;
        } else if (!spans.empty()) {
            draft_.leave_out(*lines.front(),
                             "holds for responses that state no lifetime, and `fresh_for` for all; "
                             "write \"fresh_for\": " +
                                 spans.dump() + " in the rule if the origin states none");
        }
        if (no_control)
            for (const auto* const each : {"no-store", "private", "no-cache"})
                ignored.emplace_back(each);
        if (!ignored.empty()) rule_["ignore"] = ignored;
        return true;
    }

    void add_valid(const Directive& line, Json& spans) {
        constexpr std::array<std::string_view, 9> kAny{"200", "203", "300", "301", "302",
                                                       "307", "308", "404", "410"};
        const auto span = line.words.empty() ? std::nullopt : import_span(line.words.back().text);
        if (!span) return draft_.leave_out(line, "has no span of time");
        const auto text = import_span_text((*span + 999) / 1000 * 1000);
        if (line.words.size() == 1)
            for (const auto* const status : {"200", "301", "302"}) spans[status] = text;
        for (std::size_t i = 0; i + 1 < line.words.size(); ++i) {
            const auto status = line.word(i);
            if (status == "any") {
                for (const auto each : kAny)
                    if (!spans.contains(each)) spans[std::string(each)] = text;
                continue;
            }
            unsigned number = 0;
            const auto* const end = status.data() + status.size();
            const auto whole = std::from_chars(status.data(), end, number).ptr == end;
            if (whole && number >= 200 && number <= 599 && number != 206 && number != 304 &&
                number != 412 && number != 416)
                spans[std::to_string(number)] = text;
        }
    }

    void stale() {
        bool on_error = false, updating = scope_.word("proxy_cache_background_update") == "on";
        std::vector<unsigned> statuses;
        for (const auto* line : scope_.nearest("proxy_cache_use_stale"))
            for (const auto& word : line->words) {
                if (word.text == "error" || word.text == "timeout" || word.text == "invalid_header")
                    on_error = true;
                if (word.text == "updating") updating = true;
                unsigned status = 0;
                if (word.text.starts_with("http_") && word.text.size() == 8) {
                    std::from_chars(word.text.data() + 5, word.text.data() + 8, status);
                    if (status >= 400 && status <= 599) statuses.push_back(status);
                }
            }
        // nginx keeps stale content until nobody has asked for it for so long.
        const auto span = import_span_text(std::max<std::uint64_t>(inactive_ / 1000, 1) * 1000);
        if (updating) rule_["stale_while_revalidate"] = span;
        if (on_error || !statuses.empty()) rule_["stale_if_error"] = span;
        std::sort(statuses.begin(), statuses.end());
        statuses.erase(std::unique(statuses.begin(), statuses.end()), statuses.end());
        if (!statuses.empty()) rule_["stale_on"] = statuses;
    }

    /// The node writes or reads these fields itself.
    static bool is_own(std::string_view name) {
        constexpr std::array<std::string_view, 16> kOwn{"range",
                                                        "age",
                                                        "cache-status",
                                                        "connection",
                                                        "content-encoding",
                                                        "content-length",
                                                        "content-range",
                                                        "date",
                                                        "expect",
                                                        "host",
                                                        "keep-alive",
                                                        "te",
                                                        "trailer",
                                                        "upgrade",
                                                        "via",
                                                        "transfer-encoding"};
        std::string lower;
        proxy::append_lower(lower, name);
        return lower.starts_with("if-") || is_one_of(kOwn, lower) || !proxy::is_token(name);
    }

    void fields() {
        bool names_host = false;
        for (const auto* line : scope_.nearest("proxy_set_header")) {
            names_host = names_host || proxy::iequals(line->word(0), "Host");
            set_header(*line);
        }
        for (const auto* line : scope_.innermost())
            if (line->name == "proxy_pass" && !names_host)
                draft_.leave_out(*line,
                                 "the origin gets the Host of the client, and not its own name");
        for (const auto* line : scope_.nearest("proxy_hide_header"))
            if (is_own(line->word(0)))
                draft_.leave_out(*line, "the node writes this field itself");
            else
                remove("response_fields", line->word(0));
        for (const auto* line : scope_.nearest("add_header")) {
            const std::string name(line->word(0)), value = scope_.replaced(line->word(1));
            if (value.find("$upstream_cache_status") != std::string::npos) {
                draft_.needs_nothing(*line);  // Cache-Status says it
            } else if (is_own(name) || value.find('$') != std::string::npos || value.empty()) {
                draft_.leave_out(*line, "rules set fields to fixed values, and not every field");
            } else {
                rule_["response_fields"]["add"][name] = std::string(proxy::trim(value));
            }
        }
    }

    void remove(const char* edits, std::string_view name) {
        auto& list = rule_[edits]["remove"];
        if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
    }

    void set_header(const Directive& line) {
        constexpr std::array<std::string_view, 5> kForwarded{"x-forwarded-for", "x-forwarded-proto",
                                                             "x-forwarded-host", "x-forwarded-port",
                                                             "x-forwarded-server"};
        std::string lower;
        proxy::append_lower(lower, line.word(0));
        const auto value = scope_.replaced(line.word(1));
        if (lower == "host") {
            if (value == "$host" || value == "$http_host" || value == "$host:$server_port")
                draft_.needs_nothing(line);
            else
                draft_.leave_out(line, "the origin gets the Host of the client");
        } else if (lower == "upgrade" || lower == "connection" || lower == "range" ||
                   lower.starts_with("if-")) {
            draft_.needs_nothing(line);  // kept connections and WebSockets need no fields
        } else if (is_one_of(kForwarded, lower)) {
            draft_.needs_nothing(line);  // see forwarded.origins
        } else if (is_own(lower) || value.find('$') != std::string::npos) {
            draft_.leave_out(line,
                             "rules set fields to fixed values, and not every field; the "
                             "client's address is in X-Forwarded-For");
        } else if (value.empty()) {
            remove("request_fields", line.word(0));
        } else {
            rule_["request_fields"]["set"][std::string(line.word(0))] =
                std::string(proxy::trim(value));
        }
    }

    const NginxScope& scope_;
    const NginxZones& zones_;
    ImportDraft& draft_;
    Json rule_ = Json::object();
    std::uint64_t inactive_ = 600'000;
};

}  // namespace

Json nginx_rule(const NginxScope& scope, const NginxZones& zones, ImportDraft& draft) {
    return NginxRule(scope, zones, draft).run();
}

std::optional<std::vector<std::string>> nginx_paths(const NginxLocation& location) {
    using Kind = NginxLocation::Kind;
    const auto& text = location.text;
    std::vector<std::string> out;
    switch (location.kind) {
        case Kind::prefix:
        case Kind::strong_prefix:
            if (text == "/") return out;
            out.push_back(text + "*");
            break;
        case Kind::exact:
            out.push_back(text);
            break;
        case Kind::named:
            return std::nullopt;
        case Kind::regex:
        case Kind::regex_any_case: {
            std::string lower;
            proxy::append_lower(lower, text);
            const auto globs = globs_of_regex(location.kind == Kind::regex_any_case ? lower : text);
            if (!globs || globs->wider) return std::nullopt;
            for (const auto& glob : globs->globs) {
                if (glob == "*" || glob == "/*") return std::vector<std::string>();
                out.push_back(glob);
            }
        }
    }
    if (!std::all_of(out.begin(), out.end(), [](const auto& path) { return is_rule_path(path); }))
        return std::nullopt;
    return out;
}

}  // namespace app
