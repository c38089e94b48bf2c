#include "proxy/http/rule.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <set>

#include "proxy/http/field_list.hpp"
#include "proxy/http/path_readings.hpp"
#include "proxy/http/same_host.hpp"
#include "summary/sizing/key_hash.hpp"

namespace proxy {
namespace {

constexpr std::uint32_t kAny = ~std::uint32_t{0};
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
    if (text.size() >= kFirstBytes)
        std::memcpy(&word, text.data(), kFirstBytes);
    else
        std::memcpy(&word, text.data(), text.size());
    return word;
}

/// A pattern of the form `*.suffix` matches all hosts with this ending, and no others.
std::optional<std::string_view> suffix_of(const Glob& host) {
    const std::string_view text = host.text();
    const auto is_suffix = text.starts_with("*.") && text.find('*', 1) == std::string_view::npos;
    return is_suffix ? std::optional(text.substr(1)) : std::nullopt;
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

/// Nothing for a rule without such fields, so that its part of key_hash() is as in earlier
/// versions.
void append_key_fields(std::string& out, const StoringRule& rule) {
    if (rule.key_fields.empty()) return;
    out.push_back('(');
    for (const auto& name : rule.key_fields) append_part(out, name);
    out.push_back(')');
}

/// Each member has a name here, so a new one fails to compile until somebody has decided whether
/// it judges stored content. `stale_on` does not: it is asked when the origin fails.
std::uint32_t mark_of(const Rule& whole) {
    const auto& [fresh_for, at_least, at_most, while_revalidate, if_error, stale_on, immutable,
                 authorize, share_authorized, follow_redirects, redirect_fields, ignored,
                 key_fields] = whole.storing;
    const auto& [no_store, is_private, no_cache, set_cookie, vary] = ignored;
    std::string text;
    for (const auto& [status, lifetime] : fresh_for)
        append_span(text, "for " + std::to_string(status) + "=", lifetime);
    append_span(text, "at_least=", at_least);
    append_span(text, "at_most=", at_most);
    append_span(text, "while=", while_revalidate);
    append_span(text, "error=", if_error);
    for (const auto flag : {immutable, share_authorized, authorize, no_store, is_private, no_cache,
                            set_cookie, vary, follow_redirects})
        text.push_back(flag ? '1' : '0');
    for (const auto& name : redirect_fields) append_part(text, name);
    append_key_fields(text, whole.storing);
    const auto changes_nothing = text == "000000000" && !whole.query.changes_key();
    if (whole.query.changes_key()) text.append(text_of(whole.query));
    const auto hash = static_cast<std::uint32_t>(stable_hash(text));
    return changes_nothing ? 0 : std::max<std::uint32_t>(hash, 1);
}

std::uint64_t key_hash_of(const std::vector<Rule>& rules) {
    const auto changes = [](const Rule& rule) {
        return rule.query.changes_key() || !rule.storing.key_fields.empty();
    };
    const auto end = std::find_if(rules.rbegin(), rules.rend(), changes).base();
    if (end == rules.begin()) return 0;
    std::string text;
    for (auto rule = rules.begin(); rule != end; ++rule) {
        append_globs(text, rule->match.hosts);
        append_globs(text, rule->match.paths);
        for (const auto& method : rule->match.methods) append_part(text, method);
        text.append(text_of(rule->query));
        append_key_fields(text, rule->storing);
    }
    return std::max<std::uint64_t>(stable_hash(text), 1);
}

bool is_for_method(const RuleMatch& match, std::string_view method) {
    if (match.methods.empty()) return true;
    // Methods are case-sensitive (RFC 9110 §9.1), but some origins take `get` for GET.
    if (method == "HEAD" || iequals(method, "GET")) method = "GET";
    return std::find(match.methods.begin(), match.methods.end(), method) != match.methods.end();
}

/// The rule permits nothing that would be forbidden without it, and adds nothing to a request.
bool only_restricts(const Rule& rule) {
    auto storing = rule.storing;
    storing.authorize = false;
    return storing == StoringRule() && !rule.query.changes_key() && !rule.fetch_for_head &&
           rule.request_fields.empty();
}

bool is_for_host(const RuleMatch& match, std::string_view host) {
    return match.hosts.empty() ||
           std::ranges::any_of(match.hosts, [&](const Glob& glob) { return glob.matches(host); });
}

}  // namespace

bool StoringRule::keys_by(std::string_view name) const {
    return std::ranges::any_of(key_fields,
                               [name](const std::string& key) { return iequals(key, name); });
}

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

RuleTable::RuleTable(std::vector<Rule> rules) : rules_(std::move(rules)) {
    for (auto& rule : rules_) {
        rule.mark = mark_of(rule);
        for (const auto& host : rule.match.hosts)
            if (host.is_literal()) by_host_.try_emplace(host.text());
    }
    for (std::size_t i = 0; i < rules_.size(); ++i) {
        const auto& hosts = rules_[i].match.hosts;
        for (auto& [host, candidates] : by_host_)
            if (is_for_host(rules_[i].match, host)) add_candidates(i, candidates);
        if (hosts.empty()) add_candidates(i, of_all_hosts_);
        for (std::size_t host = 0; host < hosts.size(); ++host) {
            if (hosts[host].is_literal()) continue;
            if (const auto suffix = suffix_of(hosts[host])) {
                add_candidates(i, by_suffix_[std::string(*suffix)]);
                suffix_lengths_.set(suffix->size() % suffix_lengths_.size());
            } else {
                add_pattern(i, host);
            }
        }
    }
    key_hash_ = key_hash_of(rules_);
    std::set<std::optional<std::chrono::seconds>> ages{std::nullopt};
    for (const auto& rule : rules_) ages.insert(rule.min_age);
    for (const auto& age : ages) {
        auto& one = two_readings_.emplace_back();
        one.name = kTwoReadings;
        one.bypass = true;
        one.min_age = age;
    }
}

void RuleTable::Candidates::add(std::string_view prefix, const Candidate& candidate) {
    const auto mask = first_bytes(std::string(std::min(prefix.size(), kFirstBytes), '\xff'));
    if (prefix.empty()) return any_.push_back(candidate);
    auto group = std::ranges::find(groups_, mask, &Group::mask);
    if (group == groups_.end()) group = groups_.insert(group, Group{mask, {}});
    group->by_bytes[first_bytes(prefix)].push_back(candidate);
}

template <class Visit>
void RuleTable::Candidates::each(std::string_view text, const Visit& visit) const {
    for (const auto& candidate : any_)
        if (!visit(candidate)) break;
    if (groups_.empty()) return;
    const auto word = first_bytes(text);
    for (const auto& group : groups_) {
        const auto found = group.by_bytes.find(word & group.mask);
        if (found == group.by_bytes.end()) continue;
        for (const auto& candidate : found->second)
            if (!visit(candidate)) break;
    }
}

std::size_t RuleTable::HashOfText::operator()(std::string_view text) const {
    // The words at begin, middle and end. Texts that differ elsewhere share a hash, which costs a
    // comparison each: the configuration alone chooses what is in the tables.
    if (text.size() < kFirstBytes) return summary::mix(first_bytes(text) + text.size());
    const auto middle = first_bytes(text.substr((text.size() - kFirstBytes) / 2));
    const auto end = first_bytes(text.substr(text.size() - kFirstBytes));
    return summary::mix(first_bytes(text) + std::rotl(middle, 21) + std::rotl(end, 42) +
                        text.size());
}

void RuleTable::add_candidates(std::size_t rule, Candidates& to) const {
    const auto& paths = rules_[rule].match.paths;
    const auto number = static_cast<std::uint32_t>(rule);
    if (paths.empty()) to.add({}, {number, kAny});
    for (std::size_t i = 0; i < paths.size(); ++i)
        to.add(paths[i].prefix(), {number, static_cast<std::uint32_t>(i)});
}

void RuleTable::add_pattern(std::size_t rule, std::size_t host) {
    const auto& match = rules_[rule].match;
    Candidate one{static_cast<std::uint32_t>(rule), kAny, static_cast<std::uint32_t>(host)};
    const auto prefix = match.hosts[host].prefix();
    if (match.paths.empty()) by_pattern_.add(prefix, one);
    for (one.path = 0; one.path < match.paths.size(); ++one.path) by_pattern_.add(prefix, one);
}

/// Lowers `first` to the first rule among the candidates, if that stands before it.
template <bool kByPattern>
void RuleTable::find_first(const Candidates& candidates, const LookupInput& asked,
                           std::size_t& first) const {
    candidates.each(kByPattern ? asked.host : asked.path, [&](const Candidate& candidate) {
        if (candidate.rule >= first) return false;
        const auto& hosts = rules_[candidate.rule].match.hosts;
        if (!kByPattern || hosts[candidate.host].matches(asked.host))
            look_at(candidate, asked, first);
        return candidate.rule < first;
    });
}

/// Lowers `first` to the rule of the candidate, whose host fits, if path and method do.
void RuleTable::look_at(const Candidate& candidate, const LookupInput& asked,
                        std::size_t& first) const {
    const auto& match = rules_[candidate.rule].match;
    const auto is_for_path =
        candidate.path == kAny || match.paths[candidate.path].matches(asked.path);
    if (is_for_path && is_for_method(match, asked.method)) first = candidate.rule;
}

/// Calls `visit` with the candidates of each `*.suffix` that matches.
template <class Visit>
void RuleTable::each_suffix(std::string_view host, const Visit& visit) const {
    if (by_suffix_.empty()) return;
    for (auto dot = host.find('.'); dot != std::string_view::npos; dot = host.find('.', dot + 1)) {
        if (!suffix_lengths_[(host.size() - dot) % suffix_lengths_.size()]) continue;
        const auto ending = by_suffix_.find(host.substr(dot));
        if (ending != by_suffix_.end()) visit(ending->second);
    }
}

const Rule* RuleTable::find(std::string_view method, std::string_view host,
                            std::string_view path_and_query, HostMemo* memo) const {
    if (rules_.empty()) return nullptr;
    const auto path = path_and_query.substr(0, path_and_query.find('?'));
    const auto is_canonical = !host.starts_with('[') && !host.ends_with('.');
    if (is_canonical && has_one_reading(path)) return find_plain({method, host, path, memo});
    std::string scratch;
    return find_strictest({method, canonical_host(host, scratch), {}}, path);
}

const Rule* RuleTable::find_strictest(LookupInput asked, std::string_view path_and_query) const {
    const PathReadings readings(path_and_query);
    const Rule* only = nullptr;  // of the rules found
    auto has_none = false, is_one = readings.complete;
    std::optional<std::chrono::seconds> min_age;
    for (const auto& form : readings.forms) {
        asked.path = form;
        const auto* const rule = find_plain(asked);
        has_none = has_none || !rule;
        if (!rule) continue;
        is_one = is_one && (!only || only == rule);
        only = rule;
        min_age = std::max(min_age, rule->min_age);
    }
    if (is_one && (!only || !has_none || only_restricts(*only))) return only;
    if (!readings.complete) return &two_readings_.back();
    return &*std::ranges::find(two_readings_, min_age, &Rule::min_age);
}

const Rule* RuleTable::find_plain(const LookupInput& asked) const {
    if (asked.memo) return find_by_memo(asked);
    auto first = rules_.size();
    const auto& host = asked.host;
    const auto listed = by_host_.empty() ? by_host_.end() : by_host_.find(host);
    if (listed != by_host_.end()) {
        find_first<false>(listed->second, asked, first);
    } else {
        find_first<false>(of_all_hosts_, asked, first);
        find_first<true>(by_pattern_, asked, first);
        each_suffix(host, [&](const Candidates& candidates) {
            find_first<false>(candidates, asked, first);
        });
    }
    return first < rules_.size() ? &rules_[first] : nullptr;
}

const Rule* RuleTable::find_by_memo(const LookupInput& asked) const {
    auto& memo = *asked.memo;
    const auto is_same_host =
        memo.host_.size() == asked.host.size() &&
        std::memcmp(memo.host_.data(), asked.host.data(), asked.host.size()) == 0;
    if (memo.table_ != number_.value() || !is_same_host) remember(asked.host, memo);
    auto first = rules_.size();
    for (const auto* candidates : memo.by_path_) find_first<false>(*candidates, asked, first);
    for (const auto& candidate : memo.by_pattern_)
        if (candidate.rule < first) look_at(candidate, asked, first);
    return first < rules_.size() ? &rules_[first] : nullptr;
}

void RuleTable::remember(std::string_view host, HostMemo& memo) const {
    memo.table_ = 0;  // until it is complete
    memo.host_ = host;
    memo.by_path_.clear();
    memo.by_pattern_.clear();
    const auto listed = by_host_.find(host);
    if (listed != by_host_.end()) {
        memo.by_path_.push_back(&listed->second);
    } else {
        memo.by_path_.push_back(&of_all_hosts_);
        each_suffix(host,
                    [&](const Candidates& candidates) { memo.by_path_.push_back(&candidates); });
        by_pattern_.each(host, [&](const Candidate& candidate) {
            const auto& pattern = rules_[candidate.rule].match.hosts[candidate.host];
            if (pattern.matches(host)) memo.by_pattern_.push_back(candidate);
            return true;
        });
    }
    memo.table_ = number_.value();
}

RuleTable::Number::Number() {
    static std::atomic<std::uint64_t> last{0};
    value_ = ++last;
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
