#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "proxy/config/parse_config.hpp"

namespace app {

/// Expects that the reader of the configuration takes a translation. The sections and members named
/// here may be unknown to it.
inline void expect_readable(const std::string& text) {
    constexpr std::array<std::string_view, 5> kSections{
        "$.forward.destinations", "$.forward.authentication", "$.forward.parent",
        "$.forward.no_proxy", "$.clients.limits"};
    constexpr std::array<std::string_view, 5> kMembers{".path", ".upstreams", ".balance", ".host",
                                                       ".url"};
    for (const auto& error : proxy::parse_config(text).errors) {
        const auto of_origin = error.path.starts_with("$.origins[") &&
                               std::any_of(kMembers.begin(), kMembers.end(), [&](auto member) {
                                   return error.path.ends_with(member);
                               });
        const auto is_new =
            std::find(kSections.begin(), kSections.end(), error.path) != kSections.end();
        EXPECT_TRUE(of_origin || is_new) << error.path << ": " << error.message << "\n" << text;
    }
}

}  // namespace app
