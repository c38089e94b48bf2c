// Blocklists of HEARSAY_BENCH_ENTRIES domains (default: a million): a host that is in no list,
// which nearly all are, by its number of labels; and a host that is listed.

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "proxy/blocklists/read_blocklists.hpp"

namespace proxy {
namespace {

constexpr std::size_t kAsked = 1 << 14;

std::uint64_t entries() {
    const auto* const given = std::getenv("HEARSAY_BENCH_ENTRIES");
    return given ? std::strtoull(given, nullptr, 10) : 1'000'000;
}

std::string listed(std::uint64_t number) {
    return "domain" + std::to_string(number * 7919 % 1'000'003) + "-" + std::to_string(number) +
           ".example";
}

const Blocklists& lists() {
    static const auto all = [] {
        const auto file = std::filesystem::temp_directory_path() /
                          ("hearsay-bench-" + std::to_string(::getpid()));
        {
            std::ofstream out(file);
            for (std::uint64_t i = 0; i < entries(); ++i) out << listed(i) << '\n';
        }
        ForwardConfig forward;
        forward.enabled = true;
        forward.blocklists = {{file, BlocklistFormat::domains}};
        auto read = read_blocklists(forward);
        std::filesystem::remove(file);
        if (!read.lists) std::abort();
        return read.lists;
    }();
    return *all;
}

std::vector<std::string> hosts(const std::string& before, std::uint64_t first) {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < kAsked; ++i) all.push_back(before + listed(first + i * 31));
    return all;
}

void ask(benchmark::State& state, const std::vector<std::string>& hosts) {
    const auto& all = lists();
    std::size_t i = 0;
    std::uint64_t queries = 0, positives = 0;
    for (auto _ : state) {
        const auto found = all.find(hosts[i++ % kAsked], "/some/path?query");
        queries += found.queries;
        positives += found.positives;
    }
    const auto asked = static_cast<double>(state.iterations());
    state.counters["queries"] = static_cast<double>(queries) / asked;
    state.counters["positives"] = static_cast<double>(positives) / asked;
    state.counters["bytes/entry"] =
        static_cast<double>(all.index().memory_bytes()) / static_cast<double>(entries());
}

constexpr std::uint64_t kBeyond = 1'000'000'000;  // numbers that are in no list

void unlisted_domain(benchmark::State& state) {
    ask(state, hosts("", kBeyond));
}
void unlisted_www(benchmark::State& state) {
    ask(state, hosts("www.", kBeyond));
}
void unlisted_five_labels(benchmark::State& state) {
    ask(state, hosts("img3.cdn.eu.", kBeyond));
}
void listed_www(benchmark::State& state) {
    ask(state, hosts("www.", 0));
}
BENCHMARK(unlisted_domain);
BENCHMARK(unlisted_www);
BENCHMARK(unlisted_five_labels);
BENCHMARK(listed_www);

}  // namespace
}  // namespace proxy
