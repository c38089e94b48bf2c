#include "app/import/squid_refresh.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <utility>

#include "app/import/regex_globs.hpp"
#include "proxy/http/field_list.hpp"

namespace app {
namespace {

using Json = ImportDraft::Json;

struct RefreshPattern {
    std::string regex;
    bool ignores_case = false;
    std::uint64_t minimum = 0, percent = 0, maximum = 0;  // minutes; of the age
    bool override_expire = false, share_authorized = false;
    std::vector<std::string> ignored;
    std::optional<std::uint64_t> max_stale;
    std::string lost;  // options without a setting

    bool widens() const { return !ignored.empty() || share_authorized; }
};

std::optional<std::uint64_t> whole_minutes(std::string_view text) {
    std::uint64_t number = 0;
    if (text.ends_with('%')) text.remove_suffix(1);
    const auto* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || stop != end) return std::nullopt;
    return std::min<std::uint64_t>(number, std::uint64_t{3650} * 24 * 60);
}

void read_refresh_option(RefreshPattern& out, std::string_view option) {
    constexpr std::pair<std::string_view, const char*> kIgnored[] = {
        {"ignore-no-store", "no-store"},
        {"ignore-private", "private"},
        {"ignore-no-cache", "no-cache"}};
    for (const auto& [name, statement] : kIgnored)
        if (option == name) out.ignored.emplace_back(statement);
    if (option == "override-expire") out.override_expire = true;
    if (option == "ignore-auth") out.share_authorized = true;
    if (option.starts_with("max-stale=")) out.max_stale = whole_minutes(option.substr(10));
    if (option == "ignore-reload" || option == "reload-into-ims")
        out.lost = std::string(option) + ": cache.client_directives (shield) holds for all URLs";
    if (option == "ignore-must-revalidate")
        out.lost = "ignore-must-revalidate: use stale_while_revalidate in a rule";
}

/// Nothing for a line that Squid would refuse.
std::optional<RefreshPattern> read_refresh(const Directive& line) {
    RefreshPattern out;
    std::size_t at = 0;
    if (line.word(at) == "-i" || line.word(at) == "+i") out.ignores_case = line.word(at++) == "-i";
    if (line.words.size() < at + 4) return std::nullopt;
    out.regex = line.word(at);
    const auto minimum = whole_minutes(line.word(at + 1)),
               percent = whole_minutes(line.word(at + 2)),
               maximum = whole_minutes(line.word(at + 3));
    if (!minimum || !percent || !maximum) return std::nullopt;
    out.minimum = *minimum;
    out.percent = *percent;
    out.maximum = *maximum;
    for (auto i = at + 4; i < line.words.size(); ++i) read_refresh_option(out, line.word(i));
    return out;
}

std::string minutes_text(std::uint64_t minutes) {
    return import_span_text(minutes * 60'000);
}

class RefreshImport {
public:
    explicit RefreshImport(ImportDraft& draft) : draft_(draft) {}

    void add(const Directive& line) {
        const auto pattern = read_refresh(line);
        if (!pattern) return draft_.leave_out(line, "is no refresh_pattern that Squid reads");
        const auto& regex = pattern->regex;
        if (regex.starts_with("^ftp:") || regex.starts_with("^gopher:"))
            return draft_.needs_nothing(line);
        if (regex == "." || regex == ".*" || regex == "^") return whole(line, *pattern);
        if (regex == "(/cgi-bin/|\\?)" || regex == "(cgi-bin|\\?)" || regex == "cgi-bin|\\?") {
            draft_.leave_out(line,
                             "rules compare no query; a response without a lifetime gets one "
                             "by cache.heuristic with a query, too");
            open_ = true;
            return;
        }
        std::string lower;
        if (pattern->ignores_case) proxy::append_lower(lower, regex);
        const auto globs = globs_of_regex(pattern->ignores_case ? lower : regex);
        bool all = globs && !globs->wider;
        std::vector<UrlGlob> parts;
        for (const auto& glob : globs ? globs->globs : std::vector<std::string>())
            if (auto part = split_url_glob(glob))
                parts.push_back(std::move(*part));
            else
                all = false;
        if (!globs || globs->wider || parts.empty()) {
            if (!pattern->widens()) open_ = true;
            return draft_.leave_out(line,
                                    "globs cannot say this pattern; write a rule with "
                                    "match.paths by hand");
        }
        if (!all) {
            draft_.leave_out(line, "globs cannot say all of this pattern; the rest has no rule");
            if (!pattern->widens()) open_ = true;
        }
        rules(line, *pattern, parts);
    }

private:
    /// The members of a rule for a pattern.
    Json members(const Directive& line, const RefreshPattern& pattern, bool is_whole = false) {
        Json rule = Json::object();
        if (pattern.override_expire && pattern.minimum > 0)
            rule["at_least"] = minutes_text(pattern.minimum);
        else if (pattern.minimum > 0)
            draft_.leave_out(line,
                             "at_least would also raise a lifetime that the origin states; the "
                             "rule leaves the " +
                                 std::to_string(pattern.minimum) + " minutes out");
        if (pattern.override_expire && pattern.maximum > 0)
            rule["at_most"] = minutes_text(std::max(pattern.maximum, pattern.minimum));
        if (pattern.minimum == 0 && pattern.maximum == 0 && !is_whole)
            draft_.leave_out(line,
                             "cache.heuristic holds for all URLs; `at_most`: \"0s\" would also "
                             "cut the lifetimes that the origin states");
        if (pattern.max_stale) rule["stale_if_error"] = minutes_text(*pattern.max_stale);
        if (!pattern.lost.empty()) draft_.leave_out(line, pattern.lost);
        if (!pattern.widens()) return rule;
        if (open_) {
            draft_.warn(line,
                        "a pattern before this one has no rule. Closed: the options that store "
                        "or share more are left out");
            return rule;
        }
        if (!pattern.ignored.empty()) rule["ignore"] = pattern.ignored;
        if (pattern.share_authorized) rule["share_authorized"] = true;
        return rule;
    }

    void rules(const Directive& line, const RefreshPattern& pattern,
               const std::vector<UrlGlob>& parts) {
        const auto rule = members(line, pattern);
        // Globs with one host, or with none, share a rule.
        std::vector<std::pair<std::string, std::vector<std::string>>> by_host;
        for (const auto& part : parts) {
            const auto known = std::find_if(by_host.begin(), by_host.end(), [&](const auto& each) {
                return each.first == part.host && !part.path.empty() && !each.second.empty();
            });
            if (known != by_host.end())
                known->second.push_back(part.path);
            else
                by_host.emplace_back(part.host, part.path.empty()
                                                    ? std::vector<std::string>()
                                                    : std::vector<std::string>{part.path});
        }
        for (const auto& [host, paths] : by_host) {
            Json one = Json::object();
            if (!host.empty()) one["match"]["hosts"] = {host};
            if (!paths.empty()) one["match"]["paths"] = paths;
            one.update(rule);
            draft_.add_rule("refresh-" + std::to_string(++count_), std::move(one));
        }
    }

    /// The pattern for every URL.
    void whole(const Directive& line, const RefreshPattern& pattern) {
        if (pattern.percent == 0 || pattern.maximum == 0) {
            draft_.set("cache.heuristic.maximum", "0s");
        } else {
            draft_.set("cache.heuristic.fraction",
                       static_cast<double>(std::min<std::uint64_t>(pattern.percent, 100)) / 100);
            draft_.set("cache.heuristic.maximum", minutes_text(pattern.maximum));
        }
        auto rule = members(line, pattern, true);
        if (!rule.empty()) draft_.add_rule("refresh-" + std::to_string(++count_), std::move(rule));
    }

    ImportDraft& draft_;
    bool open_ = false;  // URLs of a pattern that became no rule reach later ones
    int count_ = 0;
};

}  // namespace

void import_refresh_patterns(const std::vector<const Directive*>& lines, ImportDraft& draft) {
    RefreshImport all(draft);
    for (const auto* line : lines) all.add(*line);
}

}  // namespace app
