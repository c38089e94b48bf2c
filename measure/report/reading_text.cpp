#include "measure/report/reading_text.hpp"

#include <fmt/format.h>

#include "measure/report/numbers.hpp"
#include "measure/report/wrapped.hpp"

namespace measure {

std::vector<std::string> lines_about(const Reading& reading) {
    std::vector<std::string> out;
    std::uint64_t skipped = 0;
    for (const auto& [reason, count] : reading.skipped) skipped += count;
    if (skipped > 0 && skipped <= reading.lines)
        out.push_back(fmt::format("read: {}, of which {} were taken", amount(reading.lines, "line"),
                                  grouped(reading.lines - skipped)));
    for (const auto& [reason, count] : reading.skipped) {
        out.push_back(fmt::format("skipped: {} of {}: {}", grouped(count),
                                  amount(reading.lines, "line"), reason));
        const auto shown = reading.examples.find(reason);
        if (shown == reading.examples.end()) continue;
        for (const auto& example : shown->second) out.push_back("  " + example);
    }
    if (reading.out_of_order > 0)
        out.push_back(fmt::format("out of order: {}, taken in the order of their times",
                                  amount(reading.out_of_order, "request")));
    return out;
}

std::string reading_text(const Reading& reading) {
    std::string out;
    for (const auto& each : lines_about(reading))
        out += each.starts_with(' ') ? each + '\n' : wrapped(each);
    return out;
}

}  // namespace measure
