#pragma once

#include <gtest/gtest.h>

#include <string>

#include "proxy/config/parse_config.hpp"

namespace app {

/// Expects that the reader of the configuration takes a translation.
inline void expect_readable(const std::string& text) {
    for (const auto& error : proxy::parse_config(text).errors)
        ADD_FAILURE() << error.path << ": " << error.message << "\n" << text;
}

}  // namespace app
