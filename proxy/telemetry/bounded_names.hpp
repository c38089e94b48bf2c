#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace proxy {

/// The entry of `name`, made if it is missing; the entry of `others` if `name` is new and the map
/// has `most` names beside `others`.
template <class T>
T& entry_within(std::map<std::string, T, std::less<>>& map, std::string_view name, std::size_t most,
                std::string_view others) {
    if (const auto found = map.find(name); found != map.end()) return found->second;
    const auto named = map.size() - map.count(others);
    return map.try_emplace(std::string(named < most ? name : others)).first->second;
}

}  // namespace proxy
