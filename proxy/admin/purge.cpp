#include "proxy/admin/purge.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "proxy/config/json_text.hpp"
#include "proxy/http/cache_key.hpp"
#include "proxy/http/tags.hpp"

namespace proxy {
namespace {

using Json = nlohmann::json;

/// Thrown and caught within parse_purge().
struct PurgeSyntaxError {
    std::string why;
};

void add_url(const Json& value, const std::string& where, PurgeOrder& order) {
    if (!value.is_string()) throw PurgeSyntaxError{where + " must be a string."};
    const auto& url = value.get_ref<const std::string&>();
    CacheKey key;
    const auto error = key.assign_url(url);
    if (error != TargetError::none)
        throw PurgeSyntaxError{where + " must be a whole URL, http://host/path: " +
                               std::string(to_string(error)) + "."};
    order.uris.emplace_back(key.uri());
}

void add_tag(const Json& value, const std::string& where, PurgeOrder& order) {
    if (!value.is_string()) throw PurgeSyntaxError{where + " must be a string."};
    auto tag = value.get<std::string>();
    const auto bad =
        std::any_of(tag.begin(), tag.end(), [](unsigned char c) { return c <= ' ' || c == 0x7f; });
    if (tag.empty() || tag.size() > kMaxPurgeTagBytes || bad)
        throw PurgeSyntaxError{where + " must be a tag of 1 to " +
                               std::to_string(kMaxPurgeTagBytes) + " bytes without blanks."};
    order.tags.push_back(std::move(tag));
}

void add_rule(const Json& value, const std::string& where, PurgeOrder& order) {
    if (!value.is_string()) throw PurgeSyntaxError{where + " must be a string."};
    order.rules.push_back(value.get<std::string>());
}

void add_prefix(const Json& value, const std::string& where, PurgeOrder& order) {
    if (!value.is_string()) throw PurgeSyntaxError{where + " must be a string."};
    CacheKey key;
    const auto& begin = value.get_ref<const std::string&>();
    if (begin.find('*') != std::string::npos)
        throw PurgeSyntaxError{
            where +
            " must be without a star: a prefix is no pattern, and stands for all "
            "URLs that begin with it. Purge others by URL, rule or tag."};
    const auto error = key.assign_url(begin);
    if (error != TargetError::none)
        throw PurgeSyntaxError{where + " must be the beginning of URLs, http://host/path/: " +
                               std::string(to_string(error)) + "."};
    const auto prefixes = prefixes_of(key.uri());
    if (!key.uri().ends_with('/') || prefixes.empty() || prefixes.back() != key.uri())
        throw PurgeSyntaxError{where + " must end with a slash, and its path may have at most " +
                               std::to_string(kMaxUriPrefixes) + " slashes."};
    order.prefixes.emplace_back(key.uri());
}

template <class Add>
void add_each(const Json& value, const std::string& name, Add add, PurgeOrder& order) {
    if (!value.is_array()) throw PurgeSyntaxError{name + " must be an array."};
    if (value.size() > kMaxPurged)
        throw PurgeSyntaxError{name + " must have at most " + std::to_string(kMaxPurged) +
                               " elements."};
    for (std::size_t i = 0; i < value.size(); ++i)
        add(value[i], name + "[" + std::to_string(i) + "]", order);
}

PurgeOrder read(const Json& body) {
    if (!body.is_object()) throw PurgeSyntaxError{"The body must be a JSON object."};
    PurgeOrder order;
    for (const auto& [name, value] : body.items()) {
        if (name == "url")
            add_url(value, name, order);
        else if (name == "urls")
            add_each(value, name, add_url, order);
        else if (name == "tags")
            add_each(value, name, add_tag, order);
        else if (name == "rules")
            add_each(value, name, add_rule, order);
        else if (name == "soft" && value.is_boolean())
            order.soft = value.get<bool>();
        else if (name == "soft")
            throw PurgeSyntaxError{"soft must be true or false."};
        else if (name == "prefixes")
            add_each(value, name, add_prefix, order);
        else
            throw PurgeSyntaxError{name +
                                   " is not known: give url, urls, tags, rules or prefixes."};
    }
    const auto all =
        order.uris.size() + order.tags.size() + order.rules.size() + order.prefixes.size();
    if (all == 0)
        throw PurgeSyntaxError{"Nothing to purge: give url, urls, tags, rules or prefixes."};
    if (all > kMaxPurged)
        throw PurgeSyntaxError{"At most " + std::to_string(kMaxPurged) +
                               " URLs, tags, rules and prefixes at once."};
    return order;
}

}  // namespace

std::variant<PurgeOrder, std::string> parse_purge(std::string_view text) {
    try {
        const Environment nothing = [](const std::string&) { return std::nullopt; };
        ConfigContext context{nothing, {}};
        const auto body = parse_json(text, context);
        if (!context.errors.empty()) {
            const auto& error = context.errors.front();
            return error.path + ' ' + error.message + '.';
        }
        return read(body);
    } catch (const Json::out_of_range&) {
        return "The body is nested more than " + std::to_string(kMaxJsonDepth) + " deep.";
    } catch (const Json::exception&) {
        return "The body is not JSON.";
    } catch (const PurgeSyntaxError& wrong) {
        return wrong.why;
    }
}

std::string unknown_rule(const PurgeOrder& order, const std::vector<Rule>& rules) {
    constexpr std::size_t kMostNamed = 20;
    for (const auto& name : order.rules) {
        if (std::ranges::find(rules, name, &Rule::name) != rules.end()) continue;
        auto text = "No rule has the name " + name + ".";
        if (rules.empty()) return text + " The node has no rules.";
        text += rules.size() > kMostNamed ? " Some of the rules are: " : " The rules are: ";
        for (std::size_t i = 0; i < std::min(rules.size(), kMostNamed); ++i)
            text.append(i == 0 ? "" : ", ").append(rules[i].name);
        return text + ".";
    }
    return {};
}

PurgeAnswer answer_to_purge(const PurgeResult& report) {
    const nlohmann::ordered_json out{{"node", report.node},
                                     {"objects", report.objects},
                                     {"confirmed", report.confirmed},
                                     {"pending", report.pending},
                                     {"away", report.away}};
    // A name with invalid UTF-8 must not fail the answer about a purge that is done.
    return {report.everywhere() ? 200u : 202u,
            out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"};
}

}  // namespace proxy
