#include "app/version.hpp"

#include <string_view>

namespace app {

std::string version_text() {
    constexpr std::string_view kSanitizers = HEARSAY_SANITIZERS, kCommit = HEARSAY_COMMIT;
    std::string text = HEARSAY_VERSION " (" HEARSAY_BUILD_TYPE;
    if (!kSanitizers.empty()) text.append(" with ").append(kSanitizers);
    text.append(", " HEARSAY_COMPILER);
    if (!kCommit.empty()) text.append(", commit ").append(kCommit);
    return text.append(")");
}

}  // namespace app
