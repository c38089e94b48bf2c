// The generated parts of docs/reference/ and the JSON schema are those of this code. `./dev
// reference` writes them anew: it runs these tests with HEARSAY_WRITE_REFERENCE=1.
#include "tests/app/reference_pages.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "proxy/telemetry/counters.hpp"
#include "tests/app/run_program.hpp"
#include "tests/source_root.hpp"

namespace app::test {
namespace reference_pages_test {

using testing::HasSubstr;
using testing::IsEmpty;

const std::filesystem::path kRoot = tests::source_root(__FILE__);

/// True when the committed file is this text; writes it first when asked to.
testing::AssertionResult is_current(const std::string& file, const std::string& text) {
    if (std::getenv("HEARSAY_WRITE_REFERENCE")) std::ofstream(kRoot / file) << text;
    if (content(kRoot / file) == text) return testing::AssertionSuccess();
    return testing::AssertionFailure() << file << " is out of date: run ./dev reference";
}

std::string page_of(const std::string& name) {
    return "docs/reference/" + name + ".md";
}

void expect_current(const std::string& name, const ReferencePage& page) {
    EXPECT_THAT(page.missing, IsEmpty()) << page_of(name) << " lacks these";
    EXPECT_THAT(page.unknown, IsEmpty()) << "the program has none of these any more";
    EXPECT_TRUE(is_current(page_of(name), page.text));
}

TEST(ReferencePages, HoldEverySetting) {
    const auto page = page_of("settings");
    EXPECT_TRUE(is_current(page, settings_page(content(kRoot / page))));
}

TEST(ReferencePages, HoldEveryMetric) {
    expect_current("metrics", metrics_page(content(kRoot / page_of("metrics"))));
}

TEST(ReferencePages, ExplainEveryReasonOfARefusal) {
    const auto page = content(kRoot / page_of("metrics"));
    const auto row = page.find("| `hearsay_request_refusals_total` |");
    ASSERT_NE(row, page.npos);
    const auto text = page.substr(row, page.find('\n', row) - row);
    for (const auto reason : proxy::kEachOf<proxy::RequestRefusal>)
        EXPECT_THAT(text, HasSubstr("`" + std::string(to_string(reason)) + "`"));
}

TEST(ReferencePages, HoldEveryFieldOfTheStatus) {
    expect_current("status", status_page(content(kRoot / page_of("status"))));
}

TEST(ReferencePages, HoldEveryCommandAndOption) {
    expect_current("cli", cli_page(program(), content(kRoot / page_of("cli"))));
}

TEST(ReferencePages, HaveASchemaBesideThem) {
    EXPECT_TRUE(is_current("configs/hearsay.schema.json", config_schema()));
}

}  // namespace reference_pages_test
}  // namespace app::test
