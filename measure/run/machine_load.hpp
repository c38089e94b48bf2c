#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace measure {

/// The time of all processors since the start of the machine, in ticks.
struct ProcessorTimes {
    std::uint64_t all = 0, idle = 0;
    std::uint64_t stolen = 0;  ///< by other virtual machines of the host
};

/// Reads the text of /proc/stat (proc_stat(5)); zeros for anything else.
ProcessorTimes processor_times(std::string_view stat);

/// Says that the machine was too busy to judge a run by, with figures, or returns an empty string.
/// `load_average`: of the last minute. Pure.
std::string loaded_words(const ProcessorTimes& from, const ProcessorTimes& to, double load_average,
                         unsigned processors);

/// Measures the machine from its construction on. One thread.
class MachineLoad {
public:
    MachineLoad();
    /// As loaded_words().
    std::string words() const;

private:
    ProcessorTimes from_;
};

}  // namespace measure
