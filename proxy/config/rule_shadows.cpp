#include "proxy/config/rule_shadows.hpp"

#include <algorithm>
#include <string>

namespace proxy {
namespace {

/// All texts of `inner` are texts of `outer`: a star of `inner` can only be matched by one of
/// `outer`, which takes any other bytes as well.
bool covers_glob(const Glob& outer, const Glob& inner) {
    return outer.matches(inner.text());
}

/// The same for paths that begin with a slash, as all have but that of `OPTIONS *`.
bool covers_path(const Glob& outer, const Glob& inner) {
    const std::string& text = inner.text();
    if (!text.starts_with('*')) return covers_glob(outer, inner);
    const auto end = text.substr(std::min(text.find_first_not_of('*'), text.size()));
    return outer.matches("/*" + end) && (!end.starts_with('/') || outer.matches(end));
}

/// An empty list matches everything.
template <class Covers>
bool covers_list(const std::vector<Glob>& outer, const std::vector<Glob>& inner,
                 const Covers& covers) {
    const auto is_covered = [&](const Glob& glob) {
        return std::ranges::any_of(outer, [&](const Glob& each) { return covers(each, glob); });
    };
    if (outer.empty()) return true;
    return inner.empty() ? is_covered(Glob("*")) : std::ranges::all_of(inner, is_covered);
}

/// `outer` takes all requests of `inner` with these methods; none stands for all.
bool covers_rule(const RuleMatch& outer, const RuleMatch& inner,
                 const std::vector<std::string>& methods) {
    const auto has = [](const std::vector<std::string>& list, const std::string& method) {
        return std::ranges::find(list, method) != list.end();
    };
    const auto covers_methods =
        outer.methods.empty() ||
        (!methods.empty() && std::ranges::all_of(methods, [&](const std::string& method) {
            return has(outer.methods, method);
        }));
    const auto may_be_asterisk = methods.empty() || has(methods, "OPTIONS");
    return covers_methods && covers_list(outer.hosts, inner.hosts, covers_glob) &&
           covers_list(outer.paths, inner.paths, may_be_asterisk ? covers_glob : covers_path);
}

/// Says something, and only about responses that are stored, which those to GET alone are.
bool is_about_stored(const Rule& rule) {
    const auto& methods = rule.match.methods;
    const auto says = rule.storing != StoringRule() || rule.query.changes_key() ||
                      rule.fetch_for_head || !rule.tags.empty();
    return says && !rule.bypass && !rule.min_age && rule.request_fields.empty() &&
           rule.response_fields.empty() &&
           (methods.empty() || std::ranges::find(methods, "GET") != methods.end());
}

}  // namespace

std::vector<RuleShadow> shadowed_rules(const std::vector<Rule>& rules) {
    std::vector<RuleShadow> found;
    for (std::size_t i = 1; i < rules.size(); ++i) {
        const auto& match = rules[i].match;
        const auto note_first = [&](const std::vector<std::string>& methods, bool gets_others) {
            for (std::size_t k = 0; k < i; ++k)
                if (covers_rule(rules[k].match, match, methods)) {
                    found.push_back({i, k, gets_others});
                    return true;
                }
            return false;
        };
        if (!note_first(match.methods, false) && is_about_stored(rules[i]))
            note_first({"GET"}, true);
    }
    return found;
}

}  // namespace proxy
