#include "proxy/http/rule.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "proxy/http/escape.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/reference.hpp"
#include "proxy/http/same_host.hpp"
#include "summary/key_hash.hpp"

namespace proxy {
namespace {

constexpr std::uint32_t kAnyPath = ~std::uint32_t{0};
constexpr std::size_t kFirstBytes = sizeof(std::uint64_t);

/// A hash that every process computes alike.
std::uint64_t stable_hash(std::string_view text) {
    static const summary::KeyHasher hasher = [] {
        std::array<std::byte, summary::KeyHasher::kSecretBytes> secret{};
        for (std::size_t i = 0; i < secret.size(); ++i)
            secret[i] = static_cast<std::byte>(summary::mix(i));
        return summary::KeyHasher(secret);
    }();
    return hasher(text).low;
}

/// The first eight bytes of `text` as a number, zeros behind a shorter text.
std::uint64_t first_bytes(std::string_view text) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), std::min(text.size(), kFirstBytes));
    return word;
}

void append_part(std::string& out, std::string_view part) {
    out.append(std::to_string(part.size())).append(":").append(part);
}

void append_globs(std::string& out, const std::vector<Glob>& globs) {
    out.push_back('[');
    for (const auto& glob : globs) append_part(out, glob.text());
    out.push_back(']');
}

void append_span(std::string& out, std::string_view name,
                 const std::optional<std::chrono::seconds>& span) {
    if (span) out.append(name).append(std::to_string(span->count())).append(";");
}

std::string text_of(const QueryRule& query) {
    std::string text(1, static_cast<char>('0' + static_cast<int>(query.mode)));
    text.push_back(query.sorted ? 's' : 'u');
    append_globs(text, query.names);
    return text;
}

std::uint32_t mark_of(const Rule& whole) {
    const auto& rule = whole.storing;
    std::string text;
    for (const auto& [status, lifetime] : rule.fresh_for)
        append_span(text, "for " + std::to_string(status) + "=", lifetime);
    append_span(text, "at_least=", rule.at_least);
    append_span(text, "at_most=", rule.at_most);
    append_span(text, "while=", rule.stale_while_revalidate);
    append_span(text, "error=", rule.stale_if_error);
    const auto& ignored = rule.ignored;
    for (const auto flag : {rule.immutable, rule.share_authorized, rule.authorize, ignored.no_store,
                            ignored.is_private, ignored.no_cache, ignored.set_cookie, ignored.vary})
        text.push_back(flag ? '1' : '0');
    if (rule.follow_redirects)
        text.push_back('f');  // other rules keep the marks of earlier versions
    const auto changes_nothing = text == "00000000" && !whole.query.changes_key();
    if (whole.query.changes_key()) text.append(text_of(whole.query));
    const auto hash = static_cast<std::uint32_t>(stable_hash(text));
    return changes_nothing ? 0 : std::max<std::uint32_t>(hash, 1);
}

std::uint64_t key_hash_of(const std::vector<Rule>& rules) {
    const auto changes = [](const Rule& rule) { return rule.query.changes_key(); };
    const auto end = std::find_if(rules.rbegin(), rules.rend(), changes).base();
    if (end == rules.begin()) return 0;
    std::string text;
    for (auto rule = rules.begin(); rule != end; ++rule) {
        append_globs(text, rule->match.hosts);
        append_globs(text, rule->match.paths);
        for (const auto& method : rule->match.methods) append_part(text, method);
        text.append(text_of(rule->query));
    }
    return std::max<std::uint64_t>(stable_hash(text), 1);
}

bool is_unreserved(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

/// Appends the path with unreserved characters decoded, other escapes in capitals, and runs of `/`
/// as one.
void append_decoded(std::string& out, std::string_view path) {
    for (std::size_t i = 0; i < path.size(); ++i) {
        const auto byte = escaped_byte(path.substr(i));
        if (!byte) {
            if (path[i] != '/' || !out.ends_with('/')) out.push_back(path[i]);
            continue;
        }
        if (is_unreserved(*byte))
            out.push_back(*byte);
        else
            for (const char c : path.substr(i, 3))
                out.push_back(c >= 'a' && c <= 'f' ? static_cast<char>(c - 'a' + 'A') : c);
        i += 2;
    }
}

std::string_view parameter_name(std::string_view parameter) {
    return parameter.substr(0, parameter.find('='));
}

/// The name as an origin reads it. `scratch` may hold the result.
std::string_view decoded_name(std::string_view parameter, std::string& scratch) {
    const auto name = parameter_name(parameter);
    if (name.find_first_of("%+") == std::string_view::npos) return name;
    scratch.clear();
    for (std::size_t i = 0; i < name.size(); ++i) {
        const auto byte = escaped_byte(name.substr(i));
        scratch.push_back(byte ? *byte : name[i] == '+' ? ' ' : name[i]);
        if (byte) i += 2;
    }
    return scratch;
}

bool matches_any(const std::vector<Glob>& globs, std::string_view text) {
    return std::any_of(globs.begin(), globs.end(),
                       [&](const Glob& glob) { return glob.matches(text); });
}

/// The parameter is a part of the key.
bool stays_in_key(const QueryRule& rule, std::string_view parameter, std::string& scratch) {
    if (rule.mode == QueryRule::Mode::whole) return true;
    if (parameter.find(';') != std::string_view::npos) return true;
    const auto name = decoded_name(parameter, scratch);
    const auto listed = matches_any(rule.names, name);
    if (rule.mode == QueryRule::Mode::drop) return !listed;
    return listed || !std::all_of(name.begin(), name.end(), is_unreserved);
}

/// A segment that is `.` or `..` for an origin which ignores its parameters.
bool is_dots(std::string_view segment) {
    const auto stem = segment.substr(0, segment.find(';'));
    return stem == "." || stem == "..";
}

bool is_for_method(const RuleMatch& match, std::string_view method) {
    if (match.methods.empty()) return true;
    if (method == "HEAD") method = "GET";
    return std::find(match.methods.begin(), match.methods.end(), method) != match.methods.end();
}

bool is_for_host(const RuleMatch& match, std::string_view host) {
    return match.hosts.empty() || matches_any(match.hosts, host);
}

}  // namespace

std::optional<std::chrono::seconds> StoringRule::lifetime_for(unsigned status) const {
    for (const auto& [of, lifetime] : fresh_for)
        if (of == status) return lifetime;
    return std::nullopt;
}

bool FieldEdits::takes_away(std::string_view name) const {
    return std::any_of(set.begin(), set.end(),
                       [&](const Line& line) { return iequals(line.first, name); }) ||
           std::any_of(remove.begin(), remove.end(),
                       [&](const std::string& removed) { return iequals(removed, name); });
}

std::string_view path_for_rules(std::string_view path_and_query, std::string& scratch) {
    const auto path = path_and_query.substr(0, path_and_query.find('?'));
    const auto is_plain = path.find('%') == std::string_view::npos &&
                          path.find("//") == std::string_view::npos &&
                          path.find("/.") == std::string_view::npos;
    if (is_plain || !path.starts_with('/')) return path;
    std::string decoded;
    decoded.reserve(path.size());
    append_decoded(decoded, path);
    scratch = without_dot_segments(decoded);
    return scratch;
}

std::string path_by_lax_origins(std::string_view path) {
    if (path.find_first_of("%\\;") == std::string_view::npos) return {};
    std::string slashes;
    for (std::size_t i = 0; i < path.size(); ++i) {
        const auto escape = path.substr(i, 3);
        const auto slash = escape == "%2F" || escape == "%5C";
        slashes.push_back(slash || path[i] == '\\' ? '/' : path[i]);
        if (slash) i += 2;
    }
    std::string out;
    auto has_dots = false;
    for (std::string_view rest = slashes; !rest.empty();) {
        const auto end = rest.find('/', 1);
        auto segment = rest.substr(0, end);
        rest.remove_prefix(segment.size());
        if (is_dots(segment.substr(1))) {
            has_dots = true;
            segment = segment.substr(0, segment.find(';'));
        }
        if (segment != "/" || rest.empty()) out.append(segment);
    }
    return has_dots ? without_dot_segments(out) : std::string();
}

std::string query_for_key(const QueryRule& rule, std::string_view path_and_query) {
    const auto mark = path_and_query.find('?');
    if (mark == std::string_view::npos || rule.mode == QueryRule::Mode::ignore) return {};
    auto rest = path_and_query.substr(mark + 1);
    std::vector<std::string_view> kept;
    std::string scratch;
    for (;;) {
        const auto parameter = rest.substr(0, rest.find('&'));
        if (stays_in_key(rule, parameter, scratch)) kept.push_back(parameter);
        if (parameter.size() == rest.size()) break;
        rest.remove_prefix(parameter.size() + 1);
    }
    // Parameters of one name keep their order, because origins may read it.
    if (rule.sorted)
        std::stable_sort(kept.begin(), kept.end(), [](std::string_view a, std::string_view b) {
            return parameter_name(a) < parameter_name(b);
        });
    std::string out;
    for (const auto parameter : kept) out.append(out.empty() ? "?" : "&").append(parameter);
    return out;
}

RuleTable::RuleTable(std::vector<Rule> rules) : rules_(std::move(rules)) {
    for (auto& rule : rules_) {
        rule.mark = mark_of(rule);
        for (const auto& host : rule.match.hosts)
            if (host.is_literal()) by_host_.try_emplace(host.text());
    }
    for (std::size_t i = 0; i < rules_.size(); ++i) {
        const auto& match = rules_[i].match;
        for (auto& [host, candidates] : by_host_)
            if (is_for_host(match, host)) add_candidates(i, candidates);
        const auto names_all =
            !match.hosts.empty() && std::all_of(match.hosts.begin(), match.hosts.end(),
                                                [](const Glob& host) { return host.is_literal(); });
        if (!names_all) add_candidates(i, others_);
    }
    key_hash_ = key_hash_of(rules_);
    two_readings_.name = kTwoReadings;
    two_readings_.bypass = true;
    for (const auto& rule : rules_)
        two_readings_.min_age = std::max(two_readings_.min_age, rule.min_age);
}

void RuleTable::add_candidates(std::size_t rule, Candidates& to) const {
    const auto& paths = rules_[rule].match.paths;
    const auto number = static_cast<std::uint32_t>(rule);
    if (paths.empty()) to.push_back({0, 0, number, kAnyPath});
    for (std::size_t i = 0; i < paths.size(); ++i) {
        const auto prefix = paths[i].prefix();
        const std::string ones(std::min(prefix.size(), kFirstBytes), '\xff');
        to.push_back(
            {first_bytes(ones), first_bytes(prefix), number, static_cast<std::uint32_t>(i)});
    }
}

const Rule* RuleTable::first_of(const Candidates& candidates, std::string_view method,
                                std::string_view unlisted_host, std::string_view path) const {
    const auto begins = first_bytes(path);
    for (const auto& candidate : candidates) {
        if ((begins & candidate.mask) != candidate.bytes) continue;
        const auto& rule = rules_[candidate.rule];
        const auto fits =
            (candidate.path == kAnyPath || rule.match.paths[candidate.path].matches(path)) &&
            (unlisted_host.empty() || is_for_host(rule.match, unlisted_host)) &&
            is_for_method(rule.match, method);
        if (fits) return &rule;
    }
    return nullptr;
}

const Rule* RuleTable::find(std::string_view method, std::string_view host,
                            std::string_view path_and_query) const {
    if (rules_.empty()) return nullptr;
    std::string scratch, host_scratch;
    const auto path = path_for_rules(path_and_query, scratch);
    host = canonical_host(host, host_scratch);
    const auto* const rule = find_plain(method, host, path);
    const auto lax = path_by_lax_origins(path);
    return lax.empty() || find_plain(method, host, lax) == rule ? rule : &two_readings_;
}

const Rule* RuleTable::find_plain(std::string_view method, std::string_view host,
                                  std::string_view path) const {
    const auto listed = by_host_.find(host);
    if (listed != by_host_.end()) return first_of(listed->second, method, {}, path);
    return first_of(others_, method, host, path);
}

bool RuleTable::names_host(std::string_view host) const {
    std::string scratch;
    host = canonical_host(host, scratch);
    return std::any_of(rules_.begin(), rules_.end(), [&](const Rule& rule) {
        const auto& hosts = rule.match.hosts;
        return std::any_of(hosts.begin(), hosts.end(), [&](const Glob& glob) {
            return glob.text().find_first_not_of('*') != std::string::npos && glob.matches(host);
        });
    });
}

}  // namespace proxy
