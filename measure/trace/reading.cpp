#include "measure/trace/reading.hpp"

namespace measure {

bool Reading::leave_out(std::string_view why) {
    return ++skipped[std::string(why)] <= kExamples;
}

void Reading::add_example(std::string_view why, std::uint64_t number, const std::string& shown) {
    examples[std::string(why)].push_back("line " + std::to_string(number) + ": " + shown);
}

}  // namespace measure
