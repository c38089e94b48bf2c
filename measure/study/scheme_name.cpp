#include "measure/study/scheme_name.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "measure/study/cache_size.hpp"

namespace measure {
namespace {

template <typename Values>
auto named(const Values& values, std::string_view wanted, auto name_of)
    -> std::optional<typename Values::value_type> {
    const auto at = std::find_if(values.begin(), values.end(),
                                 [&](auto value) { return name_of(value) == wanted; });
    if (at == values.end()) return std::nullopt;
    return *at;
}

}  // namespace

std::string_view name(Scheme scheme) {
    switch (scheme) {
        case Scheme::none:
            return "none";
        case Scheme::icp:
            return "icp";
        case Scheme::squid_digest:
            return "squid_digest";
        case Scheme::exact_directory:
            return "exact_directory";
        case Scheme::server_names:
            return "server_names";
        case Scheme::paper_bloom:
            return "paper_bloom";
        case Scheme::summary:
            return "summary";
        case Scheme::consistent_hashing:
            return "consistent_hashing";
        case Scheme::single_cache:
            return "single_cache";
    }
    return "";
}

std::string_view name(Replacement replacement) {
    switch (replacement) {
        case Replacement::s3_fifo:
            return "s3_fifo";
        case Replacement::by_value:
            return "by_value";
        case Replacement::sieve:
            return "sieve";
        case Replacement::w_tiny_lfu:
            return "w_tiny_lfu";
        case Replacement::gdsf:
            return "gdsf";
        case Replacement::lru:
            return "lru";
    }
    return "";
}

std::optional<Scheme> scheme_named(std::string_view wanted) {
    return named(kSchemes, wanted, [](Scheme each) { return name(each); });
}

std::optional<Replacement> replacement_named(std::string_view wanted) {
    return named(kReplacements, wanted, [](Replacement each) { return name(each); });
}

std::optional<proxy::CopyPolicy> copy_named(std::string_view wanted) {
    return named(proxy::kCopyPolicies, wanted,
                 [](proxy::CopyPolicy each) { return proxy::to_string(each); });
}

std::string title_of(const SimulationConfig& config) {
    const auto threshold = part_text(config.announce_changed);
    switch (config.scheme) {
        case Scheme::none:
            return "no sharing";
        case Scheme::icp:
            return "ICP";
        case Scheme::squid_digest:
            return "Squid digests";
        case Scheme::exact_directory:
            return "exact directory, " + threshold;
        case Scheme::server_names:
            return "server names, " + threshold;
        case Scheme::paper_bloom:
            return fmt::format("Bloom {}, {}", config.load_factor, threshold);
        case Scheme::summary:
            return std::string(summary::name(config.kind));
        case Scheme::consistent_hashing:
            return "consistent hashing";
        case Scheme::single_cache:
            return "one cache for all";
    }
    return {};
}

std::string copy_title(proxy::CopyPolicy copy) {
    return fmt::format("copy {}", proxy::to_string(copy));
}

std::string eviction_title(Replacement replacement) {
    return fmt::format("evict {}", name(replacement));
}

bool has_threshold(Scheme scheme) {
    return scheme == Scheme::exact_directory || scheme == Scheme::server_names ||
           scheme == Scheme::paper_bloom || scheme == Scheme::summary;
}

}  // namespace measure
