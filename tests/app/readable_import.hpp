#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "app/import_command.hpp"
#include "proxy/config/parse_config.hpp"

namespace app {

/// A translation as the tests look at it.
struct ReadableImport {
    nlohmann::ordered_json json;
    std::string remarks;  // `W ` before a warning, a line each
    std::string text;
    std::size_t warnings = 0;
};

/// Expects that the translation of `file` succeeds, and that the reader of the configuration takes
/// it.
inline ReadableImport readable_import(const std::string& file, SourceFormat format,
                                      const SourceFiles& files) {
    const auto done = import_file(file, format, files);
    EXPECT_EQ(done.error, "");
    if (!done.error.empty()) return {};
    for (const auto& error : proxy::parse_config(done.json).errors)
        ADD_FAILURE() << error.path << ": " << error.message << "\n" << done.json;
    ReadableImport out{
        nlohmann::ordered_json::parse(done.json), {}, done.json, done.draft.warnings()};
    for (const auto& remark : done.draft.remarks())
        out.remarks += (remark.weight == ImportRemark::Weight::warning ? "W " : "") + remark.place +
                       ": " + remark.text + "\n";
    return out;
}

}  // namespace app
