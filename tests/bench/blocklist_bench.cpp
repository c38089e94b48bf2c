// Blocklists of HEARSAY_BENCH_ENTRIES domains (default: a million): a host that is in no list,
// which nearly all are, by its number of labels; and a host that is listed.

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
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

/// Hosts behind each other in memory, as a request has its host at hand.
class Hosts {
public:
    Hosts(const std::string& before, std::uint64_t first) {
        for (std::size_t i = 0; i < kAsked; ++i) {
            text_.append(before).append(listed(first + i * 31));
            ends_.push_back(text_.size());
        }
    }
    std::string_view operator[](std::size_t i) const {
        const auto begin = i == 0 ? 0 : ends_[i - 1];
        return std::string_view(text_).substr(begin, ends_[i] - begin);
    }

private:
    std::string text_;
    std::vector<std::size_t> ends_;
};

void ask(benchmark::State& state, const Hosts& hosts) {
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
    ask(state, Hosts("", kBeyond));
}
void unlisted_www(benchmark::State& state) {
    ask(state, Hosts("www.", kBeyond));
}
void unlisted_five_labels(benchmark::State& state) {
    ask(state, Hosts("img3.cdn.eu.", kBeyond));
}
void listed_www(benchmark::State& state) {
    ask(state, Hosts("www.", 0));
}
BENCHMARK(unlisted_domain);
BENCHMARK(unlisted_www);
BENCHMARK(unlisted_five_labels);
BENCHMARK(listed_www);

}  // namespace
}  // namespace proxy
