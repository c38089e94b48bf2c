// The part of a query that a rule leaves in the key: query_for_key() of rule.hpp.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/http/escape.hpp"
#include "proxy/http/rule.hpp"

namespace proxy {
namespace {

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

}  // namespace

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

}  // namespace proxy
