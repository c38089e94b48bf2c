#include "proxy/config/config_rules.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "proxy/config/config_values.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/path_readings.hpp"
#include "proxy/http/same_host.hpp"

namespace proxy {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using std::chrono::seconds;

constexpr auto kTenYears = std::chrono::hours(24 * 3650);
constexpr std::size_t kMaxKeyFields = 16;  // more would make each request a key of its own
constexpr std::array<std::string_view, 5> kIgnoredNames{"no-store", "private", "no-cache",
                                                        "set-cookie", "vary"};
constexpr std::array<bool IgnoredDirectives::*, 5> kIgnoredMembers{
    &IgnoredDirectives::no_store, &IgnoredDirectives::is_private, &IgnoredDirectives::no_cache,
    &IgnoredDirectives::set_cookie, &IgnoredDirectives::vary};

/// Fields that this node writes itself, or that define the meaning of the message.
constexpr std::array<std::string_view, 25> kOwnFields{"Range",
                                                      "Age",
                                                      "Cache-Status",
                                                      "Connection",
                                                      "Content-Encoding",
                                                      "Content-Length",
                                                      "Content-Range",
                                                      "Date",
                                                      "Expect",
                                                      "Hearsay-Fetcher",
                                                      "Hearsay-Fields",
                                                      "Hearsay-First-Seen",
                                                      "Hearsay-Form",
                                                      "Hearsay-Meet",
                                                      "Hearsay-Min-Age",
                                                      "Hearsay-Peer",
                                                      "Hearsay-Server",
                                                      "Host",
                                                      "Keep-Alive",
                                                      "Proxy-Connection",
                                                      "TE",
                                                      "Trailer",
                                                      "Transfer-Encoding",
                                                      "Upgrade",
                                                      "Via"};

/// What is wrong with the name of a field in a rule, or nothing. A name with `*` would be taken for
/// a pattern, which no field fits.
std::string_view fault_of_name(std::string_view name) {
    if (!is_token(name)) return "is no name of a field";
    if (name.find('*') != name.npos) return "must be the whole name of a field, without *";
    return is_own_field(name) ? "must be a field that the node itself does not write or read" : "";
}

/// The texts of a list, each with its path.
std::vector<std::pair<std::string, std::string>> texts_of(ConfigContext& context, ConfigSection& in,
                                                          std::string_view key) {
    std::vector<std::pair<std::string, std::string>> texts;
    const auto elements = in.elements(key);
    if (elements.size() > kMaxRuleTexts)
        in.fail(key, "must have at most " + std::to_string(kMaxRuleTexts) + " elements");
    for (const auto& [value, path] : elements) {
        auto text = text_of(context, *value, path);
        if (!text) continue;
        if (text->empty() || text->size() > kMaxRuleText)
            context.fail(path, "must have 1 to " + std::to_string(kMaxRuleText) + " bytes");
        texts.emplace_back(std::move(*text), path);
    }
    return texts;
}

void read_match(ConfigContext& context, ConfigSection& rule, RuleMatch& out) {
    auto in = rule.section("match");
    if (!in) return;
    for (const auto* const key : {"hosts", "paths", "methods"})
        if (const auto* const list = in->take(key); list && list->is_array() && list->empty())
            in->doubt(key, "is empty, so the rule is for all of them; leave it out to say so");
    for (const auto& [text, path] : texts_of(context, *in, "hosts")) {
        std::string lower;
        append_lower(lower, text);
        if (lower.find_first_of("/:?") != std::string::npos && !lower.starts_with('['))
            context.fail(path, "must be a host without a scheme, port or path; * stands for any");
        std::string scratch;
        out.hosts.emplace_back(canonical_host(lower, scratch));
    }
    for (const auto& [text, path] : texts_of(context, *in, "paths")) {
        if (!text.starts_with('/') && !text.starts_with('*'))
            context.fail(path, "must begin with / or *");
        if (text.find('?') != std::string::npos)
            context.fail(path, "must be a path without a query: rules compare the path alone");
        std::string scratch;
        const auto whole = (text.starts_with('*') ? "/" : "") + text;
        const std::string normal(path_for_rules(whole, scratch).substr(whole.size() - text.size()));
        if (text.find('?') == std::string::npos && normal != text)
            context.fail(path, "never matches, as rules compare normalised paths; write " + normal);
        out.paths.emplace_back(text);
    }
    for (const auto& [text, path] : texts_of(context, *in, "methods")) {
        if (!is_token(text)) context.fail(path, "must be a method, such as GET");
        if (std::any_of(text.begin(), text.end(), [](char c) { return c >= 'a' && c <= 'z'; }))
            context.doubt(path, "is another method than in capital letters, as letter case counts");
        out.methods.push_back(text == "HEAD" ? "GET" : text);
    }
    in->done();
}

void read_span(ConfigSection& in, std::string_view key, std::optional<seconds>& out) {
    std::chrono::nanoseconds span{-1};
    in.read(key, span, std::chrono::nanoseconds(0), std::chrono::nanoseconds(kTenYears));
    if (span.count() >= 0) out = std::chrono::ceil<seconds>(span);
}

/// A span, or an object of spans by status.
void read_fresh_for(ConfigContext& context, ConfigSection& in, StoringRule& out) {
    constexpr std::array kContent{200u, 203u, 300u, 301u, 302u, 307u, 308u};
    if (const auto* value = in.take("fresh_for"); !value || !value->is_object()) {
        std::optional<seconds> span;
        if (value) read_span(in, "fresh_for", span);
        if (span)
            for (const auto status : kContent) out.fresh_for.emplace_back(status, *span);
        return;
    } else {
        ConfigSection by_status(context, *value, in.path("fresh_for"));
        for (const auto& [text, unused] : value->items()) {
            unsigned status = 0;
            const auto* const end = text.data() + text.size();
            const auto whole = std::from_chars(text.data(), end, status).ptr == end;
            const auto good = whole && status >= 200 && status <= 599 && status != 206 &&
                              status != 304 && status != 412 && status != 416;
            std::optional<seconds> span;
            read_span(by_status, text, span);
            if (!good)
                by_status.fail(text, "is no status of a response that can be stored, such as 404");
            else if (span)
                out.fresh_for.emplace_back(status, *span);
        }
    }
    std::sort(out.fresh_for.begin(), out.fresh_for.end());
}

void read_ignored(ConfigContext& context, ConfigSection& in, IgnoredDirectives& out) {
    for (const auto& [text, path] : texts_of(context, in, "ignore")) {
        const auto* const found = std::find(kIgnoredNames.begin(), kIgnoredNames.end(), text);
        if (found == kIgnoredNames.end())
            context.fail(path, "must be no-store, private, no-cache, set-cookie or vary");
        else
            out.*kIgnoredMembers.at(static_cast<std::size_t>(found - kIgnoredNames.begin())) = true;
    }
}

/// Names of fields in lower case, sorted. `fault_of`: why a name cannot be among them, or nothing.
template <class FaultOf>
void read_names(ConfigContext& context, ConfigSection& in, std::string_view key,
                std::vector<std::string>& out, const FaultOf& fault_of) {
    for (const auto& [text, path] : texts_of(context, in, key)) {
        if (const auto fault = fault_of(text); !fault.empty())
            context.fail(path, std::string(fault));
        append_lower(out.emplace_back(), text);
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    if (out.size() > kMaxKeyFields)
        in.fail(key, "must have at most " + std::to_string(kMaxKeyFields) + " elements");
}

/// The node itself decides on Authorization (RFC 9111 §3.5).
std::string_view fault_of_key_field(std::string_view name) {
    if (iequals(name, "Authorization") || iequals(name, "Proxy-Authorization"))
        return "cannot be in a key; see authorize and share_authorized";
    return fault_of_name(name);
}

/// What a redirect says of its own body, its place, its lifetime or its client is no statement
/// about the final response.
std::string_view fault_of_redirect_field(std::string_view name) {
    constexpr std::array<std::string_view, 14> kOfRedirect{
        "Location",          "Set-Cookie",    "ETag", "Last-Modified", "Accept-Ranges", "Vary",
        "WWW-Authenticate",  "Cache-Control", "Age",  "Expires",       "Pragma",        "Refresh",
        "CDN-Cache-Control", "Retry-After"};
    const auto is_own =
        std::ranges::any_of(kOfRedirect, [&](std::string_view one) { return iequals(one, name); });
    if (is_own || iequals(name.substr(0, 8), "Content-"))
        return "cannot come from a redirect, because it speaks of the redirect itself";
    return fault_of_name(name);
}

void read_storing(ConfigContext& context, ConfigSection& in, StoringRule& out) {
    read_fresh_for(context, in, out);
    read_span(in, "at_least", out.at_least);
    read_span(in, "at_most", out.at_most);
    if (out.at_least && out.at_most && *out.at_least > *out.at_most)
        in.fail("at_most", "must be at least at_least");
    read_span(in, "stale_while_revalidate", out.stale_while_revalidate);
    read_span(in, "stale_if_error", out.stale_if_error);
    for (const auto& [value, path] : in.elements("stale_on")) {
        const auto status = value->is_number_unsigned() ? value->get<std::uint64_t>() : 0;
        if (status < 400 || status > 599)
            context.fail(path, "must be a status from 400 to 599");
        else
            out.stale_on.push_back(static_cast<unsigned>(status));
    }
    std::sort(out.stale_on.begin(), out.stale_on.end());
    if (out.stale_on.size() > kMaxRuleTexts)
        in.fail("stale_on", "must have at most " + std::to_string(kMaxRuleTexts) + " elements");
    if (in.has("stale_on") && !in.has("stale_if_error"))
        in.fail("stale_on", "needs stale_if_error: how long the stored response may be stale");
    in.read("immutable", out.immutable);
    in.read("share_authorized", out.share_authorized);
    in.read("follow_redirects", out.follow_redirects);
    if (const auto who = in.text("authorize")) {
        if (*who != "origin") in.fail("authorize", "must be \"origin\"");
        out.authorize = true;
    }
    read_ignored(context, in, out.ignored);
    read_names(context, in, "key_fields", out.key_fields, fault_of_key_field);
    read_names(context, in, "redirect_fields", out.redirect_fields, fault_of_redirect_field);
    if (!out.redirect_fields.empty() && !out.follow_redirects)
        in.fail("redirect_fields", "needs follow_redirects");
}

/// `keep` or `drop` with names, or the word `ignore`.
void read_query(ConfigContext& context, ConfigSection& rule, QueryRule& out) {
    const auto* value = rule.take("query");
    if (!value) return;
    if (value->is_string()) {
        if (*value != "ignore")
            rule.fail("query", "must be \"ignore\", or an object with keep or drop, and sort");
        out.mode = QueryRule::Mode::ignore;
        return;
    }
    ConfigSection in(context, *value, rule.path("query"));
    for (const auto mode : {QueryRule::Mode::keep, QueryRule::Mode::drop}) {
        const auto* key = mode == QueryRule::Mode::keep ? "keep" : "drop";
        if (!in.has(key)) continue;
        if (out.mode != QueryRule::Mode::whole) in.fail(key, "give either keep or drop, not both");
        out.mode = mode;
        for (const auto& text : texts_of(context, in, key)) out.names.emplace_back(text.first);
    }
    in.take("keep");
    in.take("drop");
    in.read("sort", out.sorted);
    in.done();
}

void read_lines(ConfigContext& context, ConfigSection& in, std::string_view key,
                std::vector<FieldEdits::Line>& out) {
    const auto* value = in.take(key);
    if (!value) return;
    ConfigSection lines(context, *value, in.path(key));
    if (!value->is_object()) return;
    for (const auto& [name, unused] : value->items()) {
        const auto text = lines.text(name);
        if (const auto fault = fault_of_name(name); !fault.empty()) {
            lines.fail(name, std::string(fault));
            continue;
        }
        if (!text) continue;
        if (has_forbidden_octet(*text) || trim(*text) != *text || text->size() > kMaxRuleText)
            lines.fail(name, "must be a field value of at most " + std::to_string(kMaxRuleText) +
                                 " bytes, without control characters or blanks around it");
        out.emplace_back(name, *text);
    }
    if (out.size() > kMaxRuleTexts)
        in.fail(key, "must have at most " + std::to_string(kMaxRuleTexts) + " members");
}

void read_edits(ConfigContext& context, ConfigSection& rule, std::string_view key,
                FieldEdits& out) {
    auto in = rule.section(key);
    if (!in) return;
    read_lines(context, *in, "set", out.set);
    read_lines(context, *in, "add", out.add);
    for (const auto& [name, path] : texts_of(context, *in, "remove")) {
        if (const auto fault = fault_of_name(name); !fault.empty())
            context.fail(path, std::string(fault));
        out.remove.push_back(name);
    }
    in->done();
}

void read_tags(ConfigContext& context, ConfigSection& in, std::vector<std::string>& out) {
    for (const auto& [text, path] : texts_of(context, in, "tags")) {
        if (has_control(text, ' ' + 1)) context.fail(path, "must be a tag without blanks");
        out.push_back(text);
    }
}

Rule read_rule(ConfigContext& context, ConfigSection& in) {
    Rule rule;
    in.require("name");
    if (const auto name = in.text("name")) {
        if (!is_token(*name) || name->size() > kMaxNodeBytes)
            in.fail("name", "must be 1 to " + std::to_string(kMaxNodeBytes) +
                                " letters, digits or of -._, as it stands in logs");
        rule.name = *name;
    }
    read_match(context, in, rule.match);
    read_storing(context, in, rule.storing);
    in.read("bypass", rule.bypass);
    in.read("fetch_for_head", rule.fetch_for_head);
    if (const auto when = in.choice("fetch_once", kFetchOnceNames))
        rule.fetch_once = static_cast<FetchOnce>(*when);
    read_span(in, "min_age", rule.min_age);
    read_query(context, in, rule.query);
    read_edits(context, in, "request_fields", rule.request_fields);
    read_edits(context, in, "response_fields", rule.response_fields);
    read_tags(context, in, rule.tags);
    in.done();
    return rule;
}

template <class Texts>
void show_list(ordered_json& out, const char* key, const Texts& texts) {
    if (texts.empty()) return;
    auto list = ordered_json::array();
    for (const auto& text : texts) {
        if constexpr (std::is_same_v<typename Texts::value_type, Glob>)
            list.push_back(text.text());
        else
            list.push_back(text);
    }
    out[key] = std::move(list);
}

void show_span(ordered_json& out, const char* key, const std::optional<seconds>& span) {
    if (span) out[key] = format_duration(*span);
}

void show_storing(ordered_json& out, const StoringRule& rule) {
    for (const auto& [status, span] : rule.fresh_for)
        out["fresh_for"][std::to_string(status)] = format_duration(span);
    show_span(out, "at_least", rule.at_least);
    show_span(out, "at_most", rule.at_most);
    show_span(out, "stale_while_revalidate", rule.stale_while_revalidate);
    show_span(out, "stale_if_error", rule.stale_if_error);
    if (!rule.stale_on.empty()) out["stale_on"] = rule.stale_on;
    if (rule.immutable) out["immutable"] = true;
    if (rule.share_authorized) out["share_authorized"] = true;
    if (rule.authorize) out["authorize"] = "origin";
    if (rule.follow_redirects) out["follow_redirects"] = true;
    show_list(out, "redirect_fields", rule.redirect_fields);
    for (std::size_t i = 0; i < kIgnoredNames.size(); ++i)
        if (rule.ignored.*kIgnoredMembers.at(i)) out["ignore"].push_back(kIgnoredNames.at(i));
    show_list(out, "key_fields", rule.key_fields);
}

void show_query(ordered_json& out, const QueryRule& query) {
    if (query.mode == QueryRule::Mode::ignore) {
        out["query"] = "ignore";
        return;
    }
    if (!query.changes_key()) return;
    if (query.mode != QueryRule::Mode::whole) {
        auto names = ordered_json::array();
        for (const auto& name : query.names) names.push_back(name.text());
        out["query"][query.mode == QueryRule::Mode::keep ? "keep" : "drop"] = std::move(names);
    }
    if (query.sorted) out["query"]["sort"] = true;
}

void show_edits(ordered_json& out, const char* key, const FieldEdits& edits) {
    for (const auto& [name, value] : edits.set) out[key]["set"][name] = value;
    for (const auto& [name, value] : edits.add) out[key]["add"][name] = value;
    if (!edits.remove.empty()) out[key]["remove"] = edits.remove;
}

ordered_json rule_json(const Rule& rule) {
    ordered_json out{{"name", rule.name}};
    ordered_json match = ordered_json::object();
    show_list(match, "hosts", rule.match.hosts);
    show_list(match, "paths", rule.match.paths);
    show_list(match, "methods", rule.match.methods);
    if (!match.empty()) out["match"] = std::move(match);
    show_storing(out, rule.storing);
    if (rule.bypass) out["bypass"] = true;
    if (rule.fetch_for_head) out["fetch_for_head"] = true;
    if (rule.fetch_once != FetchOnce::automatic)
        out["fetch_once"] = kFetchOnceNames.at(static_cast<std::size_t>(rule.fetch_once));
    show_span(out, "min_age", rule.min_age);
    show_query(out, rule.query);
    show_edits(out, "request_fields", rule.request_fields);
    show_edits(out, "response_fields", rule.response_fields);
    show_list(out, "tags", rule.tags);
    return out;
}

}  // namespace

bool is_own_field(std::string_view name) {
    return iequals(name.substr(0, 3), "If-") ||
           std::any_of(kOwnFields.begin(), kOwnFields.end(),
                       [&](std::string_view own) { return iequals(own, name); });
}

void read_rules(ConfigContext& context, ConfigSection& root, RuleTable& out) {
    std::vector<Rule> rules;
    for (const auto& [value, path] : root.elements("rules")) {
        ConfigSection in(context, *value, path);
        auto rule = read_rule(context, in);
        const auto again = std::any_of(rules.begin(), rules.end(), [&](const Rule& other) {
            return !rule.name.empty() && other.name == rule.name;
        });
        if (again) context.fail(path + ".name", "is the name of an earlier rule, too");
        rules.push_back(std::move(rule));
    }
    if (rules.size() > kMaxRules)
        root.fail("rules", "must be at most " + std::to_string(kMaxRules));
    out = RuleTable(std::move(rules));
}

ordered_json rules_json(const RuleTable& rules) {
    auto list = ordered_json::array();
    for (const auto& rule : rules.all()) list.push_back(rule_json(rule));
    return list;
}

}  // namespace proxy
