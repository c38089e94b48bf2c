#include "proxy/config/rule_shadows.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

namespace proxy {
namespace {

/// The patterns of a list, of which an empty one stands for all texts.
std::vector<Glob> patterns_of(const std::vector<Glob>& list) {
    return list.empty() ? std::vector<Glob>{Glob("*")} : list;
}

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

bool has_method(const std::vector<std::string>& list, const std::string& method) {
    return list.empty() || std::ranges::find(list, method) != list.end();
}

/// The numbers of the patterns of `inner` that one of `outer` covers. An empty list covers all.
template <class Covers>
std::vector<std::size_t> covered(const std::vector<Glob>& inner, const std::vector<Glob>& outer,
                                 const Covers& covers) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < inner.size(); ++i)
        if (outer.empty() ||
            std::ranges::any_of(outer, [&](const Glob& each) { return covers(each, inner[i]); }))
            found.push_back(i);
    return found;
}

/// The requests of a rule: its methods by its host patterns by its path patterns. An empty method
/// stands for all that no rule names.
class RequestsLeft {
public:
    RequestsLeft(const RuleMatch& match, std::vector<std::string> methods)
        : methods_(std::move(methods)),
          hosts_(patterns_of(match.hosts)),
          paths_(patterns_of(match.paths)),
          taken_(methods_.size() * hosts_.size() * paths_.size()),
          left_(taken_.size()) {}

    bool none() const { return left_ == 0; }
    enum class Taken : std::uint8_t { nothing, some, everything };
    /// What `earlier` takes of the requests that are left, or of all.
    Taken take(const RuleMatch& earlier) {
        const auto hosts = covered(hosts_, earlier.hosts, covers_glob);
        if (hosts.empty()) return Taken::nothing;
        const auto before = left_;
        std::size_t all = 0;
        for (std::size_t i = 0; i < methods_.size(); ++i) {
            const auto& method = methods_[i];
            if (method.empty() ? !earlier.methods.empty() : !has_method(earlier.methods, method))
                continue;
            const auto may_be_asterisk = method.empty() || method == "OPTIONS";
            const auto paths =
                covered(paths_, earlier.paths, may_be_asterisk ? covers_glob : covers_path);
            all += hosts.size() * paths.size();
            for (const auto host : hosts)
                for (const auto path : paths)
                    mark((i * hosts_.size() + host) * paths_.size() + path);
        }
        if (all == taken_.size()) return Taken::everything;
        return left_ < before ? Taken::some : Taken::nothing;
    }

private:
    void mark(std::size_t request) {
        if (!taken_[request]) --left_;
        taken_[request] = true;
    }

    std::vector<std::string> methods_;
    std::vector<Glob> hosts_, paths_;
    std::vector<bool> taken_;
    std::size_t left_;
};

/// The rules before number `rule` that take all of its requests with these methods; empty: some are
/// left.
std::vector<std::size_t> takers(const std::vector<Rule>& rules, std::size_t rule,
                                std::vector<std::string> methods) {
    RequestsLeft left(rules[rule].match, std::move(methods));
    std::vector<std::size_t> by;
    for (std::size_t i = 0; i < rule && !left.none(); ++i) {
        const auto taken = left.take(rules[i].match);
        if (taken == RequestsLeft::Taken::everything) return {i};
        if (taken == RequestsLeft::Taken::some) by.push_back(i);
    }
    return left.none() ? by : std::vector<std::size_t>();
}

/// Says something, and only about responses that are stored, which those to GET alone are.
bool is_about_stored(const Rule& rule) {
    const auto says = rule.storing != StoringRule() || rule.query.changes_key() ||
                      rule.fetch_for_head || !rule.tags.empty();
    return says && !rule.bypass && !rule.min_age && rule.request_fields.empty() &&
           rule.response_fields.empty();
}

}  // namespace

std::vector<RuleShadow> shadowed_rules(const std::vector<Rule>& rules) {
    std::vector<RuleShadow> found;
    for (std::size_t i = 1; i < rules.size(); ++i) {
        auto methods = rules[i].match.methods;
        if (methods.empty()) {
            methods.emplace_back();
            for (std::size_t k = 0; k < i; ++k)
                for (const auto& method : rules[k].match.methods)
                    if (!has_method(methods, method)) methods.push_back(method);
        }
        auto by = takers(rules, i, std::move(methods));
        const auto has_others = by.empty();
        if (has_others && is_about_stored(rules[i]) && has_method(rules[i].match.methods, "GET"))
            by = takers(rules, i, {"GET"});
        if (!by.empty()) found.push_back({i, std::move(by), has_others});
    }
    return found;
}

}  // namespace proxy
