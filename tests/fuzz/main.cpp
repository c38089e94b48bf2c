// libFuzzer's end of the targets. Which one: the environment variable HEARSAY_FUZZ, so that the
// processes that libFuzzer starts for itself know it too.

#include "tests/fuzz/fuzz.hpp"

#include <cstring>

namespace {

const FuzzTarget* chosen() {
    const char* name = std::getenv("HEARSAY_FUZZ");
    for (const auto& target : kFuzzTargets) {
        if (name != nullptr && target.name == name) return &target;
    }
    return nullptr;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
    if (*argc == 2 && std::strcmp((*argv)[1], "--list") == 0) {
        for (const auto& target : kFuzzTargets) std::puts(target.name.data());
        std::exit(0);
    }
    if (chosen() == nullptr) {
        std::fputs("HEARSAY_FUZZ must name a target; --list knows them\n", stderr);
        std::exit(2);
    }
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const auto run = chosen()->run;
    return run(data, size);
}
