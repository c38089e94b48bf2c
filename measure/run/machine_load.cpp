#include "measure/run/machine_load.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include "measure/report/numbers.hpp"

namespace measure {
namespace {

// Below this a thread that may run waits for a processor again and again, so timeouts and lags of
// the run say little about the program.
constexpr double kLeastIdlePercent = 10;
constexpr double kMostStolenPercent = 5;

ProcessorTimes times_now() {
    std::ifstream in("/proc/stat");
    std::string line;
    std::getline(in, line);
    return processor_times(line);
}

}  // namespace

ProcessorTimes processor_times(std::string_view stat) {
    // user, nice, system, idle, iowait, irq, softirq, steal; the times of guests are in user
    std::array<std::uint64_t, 8> parts{};
    std::istringstream in{std::string(stat)};
    std::string name;
    if (!(in >> name) || name != "cpu") return {};
    ProcessorTimes times;
    for (auto& part : parts) {
        if (!(in >> part)) return {};
        times.all += part;
    }
    times.idle = parts[3] + parts[4];
    times.stolen = parts[7];
    return times;
}

std::string loaded_words(const ProcessorTimes& from, const ProcessorTimes& to, double load_average,
                         unsigned processors) {
    if (to.all <= from.all) return {};
    const auto share = [&](std::uint64_t before, std::uint64_t after) {
        return after > before ? percent(after - before, to.all - from.all) : 0;
    };
    const auto idle = share(from.idle, to.idle), stolen = share(from.stolen, to.stolen);
    if (idle >= kLeastIdlePercent && stolen <= kMostStolenPercent) return {};
    return fmt::format(
        "the machine was loaded: {} idle for {:.0f} % of the time, other virtual machines took "
        "{:.0f} %, load average {:.1f} (repeat it on an idle machine, or with a lower --rate)",
        amount(processors, "processor"), idle, stolen, load_average);
}

MachineLoad::MachineLoad() : from_(times_now()) {}

std::string MachineLoad::words() const {
    double average = 0;
    if (::getloadavg(&average, 1) != 1) average = 0;
    return loaded_words(from_, times_now(), average, std::thread::hardware_concurrency());
}

}  // namespace measure
