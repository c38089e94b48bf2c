// docs/howto/upgrade.md says which builds work together, by the numbers of this code.
#include <gmock/gmock.h>

#include <regex>

#include "protocol/wire/frame.hpp"
#include "proxy/disk/footer.hpp"
#include "tests/app/run_program.hpp"
#include "tests/source_root.hpp"

namespace app::test {
namespace versions_test {

using testing::HasSubstr;

const std::filesystem::path kRoot = tests::source_root(__FILE__);

/// The last row of the page that begins with these cells.
std::string row_of(const std::string& page, const std::string& begin) {
    const auto at = page.rfind("\n| " + begin);
    return at == page.npos ? "" : page.substr(at + 1, page.find('\n', at + 1) - at - 1);
}

/// The number that a source file gives to a constant.
std::string number_in(const std::string& file, const std::string& constant) {
    std::smatch found;
    const auto text = content(kRoot / file);
    std::regex_search(text, found, std::regex(constant + " = (\\d+);"));
    return found.empty() ? "no " + constant : found[1].str();
}

TEST(Versions, OfFormatsAreThoseOfThePage) {
    const auto page = content(kRoot / "docs/howto/upgrade.md");
    const auto link = std::to_string(protocol::kProtocolVersion);
    const auto disk = std::to_string(proxy::kDiskFormat);
    EXPECT_THAT(row_of(page, "link protocol |"), HasSubstr("| " + link + " |"));
    EXPECT_THAT(row_of(page, "disk format"), HasSubstr("| " + disk + " |"));
    EXPECT_THAT(row_of(page, "`hearsay.invalidations` |"),
                HasSubstr("| " + number_in("proxy/storage/invalidation_journal.cpp", "kFormat")));
    EXPECT_THAT(row_of(page, "`hearsay.history` |"),
                HasSubstr("| " + number_in("proxy/telemetry/history_file.cpp", "kHistoryFormat")));
    EXPECT_THAT(row_of(page, "`hearsay.first-sights` |"),
                HasSubstr("| " + number_in("proxy/storage/first_sight_file.cpp", "kVersion")));
    // The newest builds, in the last row of the table of builds.
    EXPECT_THAT(row_of(page, HEARSAY_VERSION " since"),
                HasSubstr("| " + link + ", encrypted | " + disk + " |"));
    const auto changelog = content(kRoot / "packaging/debian/changelog.in");
    EXPECT_THAT(changelog, HasSubstr("The link protocol is version " + link + "."));
    EXPECT_THAT(changelog, HasSubstr("The disk format is version " + disk + ","));
}

}  // namespace versions_test
}  // namespace app::test
