// libFuzzer's end of the targets. The environment variable HEARSAY_FUZZ names one, so that the
// processes that libFuzzer starts for itself know it too; without it the program's own name does
// (.clusterfuzzlite).

#include "tests/fuzz/fuzz.hpp"

#include <cerrno>
#include <cstring>

namespace {

const FuzzTarget* chosen() {
    const char* wanted = std::getenv("HEARSAY_FUZZ");
    const std::string_view name = wanted != nullptr ? wanted : program_invocation_short_name;
    for (const auto& target : kFuzzTargets) {
        if (target.name == name) return &target;
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
        std::fputs(
            "HEARSAY_FUZZ, or the name of this program, must be a target; --list knows them\n",
            stderr);
        std::exit(2);
    }
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const auto run = chosen()->run;
    return run(data, size);
}
