// The generated pages of docs/reference/ and the JSON schema are those of this code. `./dev
// reference` writes them anew: it runs these tests with HEARSAY_WRITE_REFERENCE=1.
#include "tests/app/reference_pages.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "proxy/telemetry/counters.hpp"

namespace app::test {
namespace reference_pages_test {

using testing::HasSubstr;
using testing::IsEmpty;

const std::filesystem::path kRoot = std::filesystem::path(__FILE__).parent_path() / "../..";

std::string read(const std::filesystem::path& file) {
    std::ifstream in(file);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

/// True when the committed file is this text; writes it first when asked to.
testing::AssertionResult is_current(const std::string& file, const std::string& text) {
    if (std::getenv("HEARSAY_WRITE_REFERENCE")) std::ofstream(kRoot / file) << text;
    if (read(kRoot / file) == text) return testing::AssertionSuccess();
    return testing::AssertionFailure() << file << " is out of date: run ./dev reference";
}

std::string notes_of(const std::string& page) {
    return read(kRoot / "docs/reference/notes" / (page + ".md"));
}

void expect_current(const std::string& name, const ReferencePage& page) {
    EXPECT_THAT(page.without_note, IsEmpty())
        << "docs/reference/notes/" << name << ".md lacks these";
    EXPECT_THAT(page.without_row, IsEmpty()) << "the program has none of these any more";
    EXPECT_TRUE(is_current("docs/reference/" + name + ".md", page.text));
}

TEST(ReferencePages, HoldEverySetting) {
    expect_current("settings", settings_page(notes_of("settings")));
}

TEST(ReferencePages, HoldEveryMetric) {
    expect_current("metrics", metrics_page(notes_of("metrics")));
}

TEST(ReferencePages, ExplainEveryReasonOfARefusal) {
    const auto notes = read_notes(notes_of("metrics"));
    const auto note = std::ranges::find(notes, "hearsay_request_refusals_total", &Note::name);
    ASSERT_NE(note, notes.end());
    for (const auto reason : proxy::kEachOf<proxy::RequestRefusal>)
        EXPECT_THAT(note->text, HasSubstr("`" + std::string(to_string(reason)) + "`"));
}

TEST(ReferencePages, HoldEveryFieldOfTheStatus) {
    expect_current("status", status_page(notes_of("status")));
}

TEST(ReferencePages, HoldEveryCommandAndOption) {
    const auto program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "hearsay";
    expect_current("cli", cli_page(program.string(), notes_of("cli")));
}

TEST(ReferencePages, HaveASchemaBesideThem) {
    EXPECT_TRUE(is_current("configs/hearsay.schema.json", config_schema()));
}

}  // namespace reference_pages_test
}  // namespace app::test
