#pragma once

namespace app {

/// Exit codes of the program.
inline constexpr int kOk = 0;
inline constexpr int kFailed = 1;
inline constexpr int kUsage = 2;
inline constexpr int kBadConfig = 78;  // EX_CONFIG of sysexits

}  // namespace app
