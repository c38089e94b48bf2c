#include "proxy/config/config_rules.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <utility>

#include "proxy/config/config_json.hpp"
#include "proxy/config/config_sections.hpp"
#include "proxy/config/config_values.hpp"
#include "proxy/config/setting.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/path_readings.hpp"
#include "proxy/http/same_host.hpp"

namespace proxy {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using std::chrono::seconds;

constexpr std::string_view kElements = "rules[]";
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

/// The members of `shown` that `usual` has not, or with another value.
ordered_json without_usual(const ordered_json& shown, const ordered_json& usual) {
    auto out = ordered_json::object();
    for (const auto& [key, value] : shown.items()) {
        const auto found = usual.find(key);
        if (found == usual.end() || value != *found)
            out[key] = found != usual.end() && found->is_object() && value.is_object()
                           ? without_usual(value, *found)
                           : value;
    }
    return out;
}

/// What is wrong with the name of a field in a rule, or nothing. A name with `*` would be taken for
/// a pattern, which no field fits.
std::string_view fault_of_name(std::string_view name) {
    if (!is_token(name)) return "is no name of a field";
    if (name.find('*') != name.npos) return "must be the whole name of a field, without *";
    return is_own_field(name) ? "must be a field that the node itself does not write or read" : "";
}

using RuleTexts = std::vector<std::pair<std::string, std::string>>;

/// The texts of a list, each with its path.
RuleTexts texts_of(ConfigSection& in, std::string_view key) {
    RuleTexts texts;
    const auto elements = in.elements(key);
    if (elements.size() > kMaxRuleTexts)
        in.fail(key, "must have at most " + std::to_string(kMaxRuleTexts) + " elements");
    for (const auto& [value, path] : elements) {
        auto text = text_of(in.context(), *value, path);
        if (!text) continue;
        if (text->empty() || text->size() > kMaxRuleText)
            in.context().fail(path, "must have 1 to " + std::to_string(kMaxRuleText) + " bytes");
        texts.emplace_back(std::move(*text), path);
    }
    return texts;
}

/// The same for a list of `match`, which is for all when it is empty.
RuleTexts texts_of_match(ConfigSection& in, std::string_view key) {
    if (const auto* const list = in.take(key); list && list->is_array() && list->empty())
        in.doubt(key, "is empty, so the rule is for all of them; leave it out to say so");
    return texts_of(in, key);
}

std::optional<seconds> read_span(ConfigSection& in, std::string_view key) {
    auto span = kNoSpan;
    in.read(key, span, std::chrono::nanoseconds(0), kLongestSpan);
    if (span == kNoSpan) return std::nullopt;
    return std::chrono::ceil<seconds>(span);
}

/// Names of fields in lower case, sorted. `fault_of`: why a name cannot be among them, or nothing.
template <class FaultOf>
void read_names(ConfigSection& in, std::string_view key, std::vector<std::string>& out,
                const FaultOf& fault_of) {
    for (const auto& [text, path] : texts_of(in, key)) {
        if (const auto fault = fault_of(text); !fault.empty())
            in.context().fail(path, std::string(fault));
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

void read_lines(ConfigSection& in, std::string_view key, std::vector<FieldEdits::Line>& out) {
    const auto* value = in.take(key);
    if (!value) return;
    ConfigSection lines(in.context(), *value, in.path(key));
    if (!value->is_object()) return;
    for (const auto& [name, unused] : value->items()) {
        const auto text = lines.text(name);
        if (const auto fault = fault_of_name(name); !fault.empty()) {
            lines.fail(name, std::string(fault));
            continue;
        }
        if (!text) continue;
        if (std::ranges::any_of(out, [&](const auto& line) { return iequals(line.first, name); }))
            lines.fail(name, "stands twice, as letter case does not count in names of fields");
        if (has_forbidden_octet(*text) || trim(*text) != *text || text->size() > kMaxRuleText)
            lines.fail(name, "must be a field value of at most " + std::to_string(kMaxRuleText) +
                                 " bytes, without control characters or blanks around it");
        out.emplace_back(name, *text);
    }
    if (out.size() > kMaxRuleTexts)
        in.fail(key, "must have at most " + std::to_string(kMaxRuleTexts) + " members");
}

}  // namespace

bool is_own_field(std::string_view name) {
    return iequals(name.substr(0, 3), "If-") ||
           std::ranges::any_of(kOwnFields,
                               [&](std::string_view own) { return iequals(own, name); });
}

namespace settings {

std::string fault_of_rule_name(const std::string& name) {
    if (is_token(name) && name.size() <= kMaxNodeBytes) return {};
    return "must be 1 to " + std::to_string(kMaxNodeBytes) +
           " letters, digits or of -._, as it stands in logs";
}

void read_hosts(ConfigSection& in, std::string_view key, std::vector<Glob>& out) {
    for (const auto& [text, path] : texts_of_match(in, key)) {
        std::string lower, scratch;
        append_lower(lower, text);
        if (lower.find_first_of("/:?") != std::string::npos && !lower.starts_with('['))
            in.context().fail(path,
                              "must be a host without a scheme, port or path; * stands for any");
        out.emplace_back(canonical_host(lower, scratch));
    }
}

void read_paths(ConfigSection& in, std::string_view key, std::vector<Glob>& out) {
    for (const auto& [text, path] : texts_of_match(in, key)) {
        if (!text.starts_with('/') && !text.starts_with('*'))
            in.context().fail(path, "must begin with / or *");
        if (text.find('?') != std::string::npos)
            in.context().fail(path, "must be a path without a query: rules compare the path alone");
        std::string scratch;
        const auto whole = (text.starts_with('*') ? "/" : "") + text;
        const std::string normal(path_for_rules(whole, scratch).substr(whole.size() - text.size()));
        if (text.find('?') == std::string::npos && normal != text)
            in.context().fail(path,
                              "never matches, as rules compare normalised paths; write " + normal);
        out.emplace_back(text);
    }
}

void read_methods(ConfigSection& in, std::string_view key, std::vector<std::string>& out) {
    for (const auto& [text, path] : texts_of_match(in, key)) {
        if (!is_token(text)) in.context().fail(path, "must be a method, such as GET");
        if (std::any_of(text.begin(), text.end(), [](char c) { return c >= 'a' && c <= 'z'; }))
            in.context().doubt(path,
                               "is another method than in capital letters, as letter case counts");
        out.push_back(text == "HEAD" ? "GET" : text);
    }
}

void read_fresh_for(ConfigSection& in, std::string_view key, Lifetimes& out) {
    constexpr std::array kContent{200u, 203u, 300u, 301u, 302u, 307u, 308u};
    if (const auto* value = in.take(key); !value || !value->is_object()) {
        if (const auto span = value ? read_span(in, key) : std::nullopt)
            for (const auto status : kContent) out.emplace_back(status, *span);
        return;
    } else {
        ConfigSection by_status(in.context(), *value, in.path(key));
        for (const auto& [text, unused] : value->items()) {
            unsigned status = 0;
            const auto* const end = text.data() + text.size();
            const auto whole = std::from_chars(text.data(), end, status).ptr == end;
            const auto good = whole && text.size() == 3 && status >= 200 && status <= 599 &&
                              status != 206 && status != 304 && status != 412 && status != 416;
            const auto span = read_span(by_status, text);
            if (!good)
                by_status.fail(text, "is no status of a response that can be stored, such as 404");
            else if (span)
                out.emplace_back(status, *span);
        }
    }
    std::sort(out.begin(), out.end());
}

ordered_json show_fresh_for(const Lifetimes& lifetimes) {
    auto out = ordered_json::object();
    for (const auto& [status, span] : lifetimes)
        out[std::to_string(status)] = format_duration(span);
    return out;
}

void read_stale_on(ConfigSection& in, std::string_view key, std::vector<unsigned>& out) {
    for (const auto& [value, path] : in.elements(key)) {
        const auto status = value->is_number_unsigned() ? value->get<std::uint64_t>() : 0;
        if (status < 400 || status > 599)
            in.context().fail(path, "must be a status from 400 to 599");
        else
            out.push_back(static_cast<unsigned>(status));
    }
    std::sort(out.begin(), out.end());
    if (out.size() > kMaxRuleTexts)
        in.fail(key, "must have at most " + std::to_string(kMaxRuleTexts) + " elements");
    if (in.has(key) && !in.has("stale_if_error"))
        in.fail(key, "needs stale_if_error: how long the stored response may be stale");
}

void read_authorize(ConfigSection& in, std::string_view key, bool& out) {
    const auto who = in.text(key);
    if (who && *who != "origin") in.fail(key, "must be \"origin\"");
    out = who.has_value();
}

ordered_json show_authorize(const bool& on) {
    return on ? "origin" : ordered_json(ordered_json::value_t::discarded);
}

void read_ignored(ConfigSection& in, std::string_view key, IgnoredDirectives& out) {
    for (const auto& [text, path] : texts_of(in, key)) {
        const auto* const found = std::find(kIgnoredNames.begin(), kIgnoredNames.end(), text);
        if (found == kIgnoredNames.end())
            in.context().fail(path, "must be no-store, private, no-cache, set-cookie or vary");
        else
            out.*kIgnoredMembers.at(static_cast<std::size_t>(found - kIgnoredNames.begin())) = true;
    }
}

ordered_json show_ignored(const IgnoredDirectives& ignored) {
    auto out = ordered_json::array();
    for (std::size_t i = 0; i < kIgnoredNames.size(); ++i)
        if (ignored.*kIgnoredMembers.at(i)) out.push_back(kIgnoredNames.at(i));
    return out;
}

void read_key_fields(ConfigSection& in, std::string_view key, std::vector<std::string>& out) {
    read_names(in, key, out, fault_of_key_field);
}

void read_redirect_fields(ConfigSection& in, std::string_view key, std::vector<std::string>& out) {
    read_names(in, key, out, fault_of_redirect_field);
}

void read_query(ConfigSection& rule, std::string_view key, QueryRule& out) {
    const auto* value = rule.take(key);
    if (!value) return;
    if (value->is_string()) {
        if (*value != "ignore")
            rule.fail(key, "must be \"ignore\", or an object with keep or drop, and sort");
        out.mode = QueryRule::Mode::ignore;
        return;
    }
    ConfigSection in(rule.context(), *value, rule.path(key));
    for (const auto mode : {QueryRule::Mode::keep, QueryRule::Mode::drop}) {
        const auto* list = mode == QueryRule::Mode::keep ? "keep" : "drop";
        if (!in.has(list)) continue;
        if (out.mode != QueryRule::Mode::whole) in.fail(list, "give either keep or drop, not both");
        out.mode = mode;
        for (const auto& text : texts_of(in, list)) out.names.emplace_back(text.first);
    }
    in.take("keep");
    in.take("drop");
    in.read("sort", out.sorted);
    in.done();
}

ordered_json show_query(const QueryRule& query) {
    if (query.mode == QueryRule::Mode::ignore) return "ignore";
    auto out = ordered_json::object();
    if (query.mode != QueryRule::Mode::whole)
        out[query.mode == QueryRule::Mode::keep ? "keep" : "drop"] = texts_of_globs(query.names);
    if (query.sorted) out["sort"] = true;
    return out;
}

void read_edits(ConfigSection& rule, std::string_view key, FieldEdits& out) {
    auto in = rule.section(key);
    if (!in) return;
    read_lines(*in, "set", out.set);
    read_lines(*in, "add", out.add);
    for (const auto& [name, path] : texts_of(*in, "remove")) {
        if (const auto fault = fault_of_name(name); !fault.empty())
            rule.context().fail(path, std::string(fault));
        out.remove.push_back(name);
    }
    in->done();
}

ordered_json show_edits(const FieldEdits& edits) {
    auto out = ordered_json::object();
    for (const auto& [name, value] : edits.set) out["set"][name] = value;
    for (const auto& [name, value] : edits.add) out["add"][name] = value;
    if (!edits.remove.empty()) out["remove"] = edits.remove;
    return out;
}

void read_tags(ConfigSection& in, std::string_view key, std::vector<std::string>& out) {
    for (const auto& [text, path] : texts_of(in, key)) {
        if (has_control(text, ' ' + 1)) in.context().fail(path, "must be a tag without blanks");
        out.push_back(text);
    }
}

ordered_json texts_of_globs(const std::vector<Glob>& globs) {
    auto out = ordered_json::array();
    for (const auto& glob : globs) out.push_back(glob.text());
    return out;
}

void check_lifetimes(ConfigSection& in, Rule& rule) {
    const auto& [low, high] = std::tie(rule.storing.at_least, rule.storing.at_most);
    if (low && high && *low > *high) in.fail("at_most", "must be at least at_least");
}

void check_redirects(ConfigSection& in, Rule& rule) {
    if (!rule.storing.redirect_fields.empty() && !rule.storing.follow_redirects)
        in.fail("redirect_fields", "needs follow_redirects");
}

}  // namespace settings

void read_rules(ConfigSection& root, std::string_view key, RuleTable& out) {
    std::vector<Rule> rules;
    for (const auto& [value, path] : root.elements(key)) {
        ConfigSection in(root.context(), *value, path);
        Rule rule;
        read_members(in, kElements, rule);
        const auto again = std::any_of(rules.begin(), rules.end(), [&](const Rule& other) {
            return !rule.name.empty() && other.name == rule.name;
        });
        if (again) root.context().fail(path + ".name", "is the name of an earlier rule, too");
        rules.push_back(std::move(rule));
    }
    if (rules.size() > kMaxRules)
        root.fail(key, "must have at most " + std::to_string(kMaxRules) + " elements");
    out = RuleTable(std::move(rules));
}

ordered_json rules_json(const RuleTable& rules) {
    const Rule usual_rule;
    const auto usual = members_json(usual_rule, kElements);
    auto list = ordered_json::array();
    for (const auto& rule : rules.all())
        list.push_back(without_usual(members_json(rule, kElements), usual));
    return list;
}

}  // namespace proxy
