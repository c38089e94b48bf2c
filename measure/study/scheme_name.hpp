#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "measure/simulate/simulation.hpp"

namespace measure {

inline constexpr std::array kSchemes{
    Scheme::none,         Scheme::icp,         Scheme::squid_digest, Scheme::exact_directory,
    Scheme::server_names, Scheme::paper_bloom, Scheme::summary,      Scheme::consistent_hashing,
    Scheme::single_cache};
inline constexpr std::array kReplacements{Replacement::s3_fifo, Replacement::by_value,
                                          Replacement::sieve,   Replacement::w_tiny_lfu,
                                          Replacement::gdsf,    Replacement::lru};

/// The name in the command line and in JSON: "icp", "paper_bloom".
std::string_view name(Scheme scheme);
std::string_view name(Replacement replacement);
std::optional<Scheme> scheme_named(std::string_view name);
std::optional<Replacement> replacement_named(std::string_view name);
std::optional<proxy::CopyPolicy> copy_named(std::string_view name);

/// The name in tables, with the setting that distinguishes it: "Bloom 16, 1%", "quotient". At most
/// 22 characters.
std::string title_of(const SimulationConfig& config);

/// The name of a copy policy in tables: "copy always".
std::string copy_title(proxy::CopyPolicy copy);
/// And of an order of eviction: "evict s3_fifo".
std::string eviction_title(Replacement replacement);

/// Returns true if the scheme announces after a share of the objects has changed.
bool has_threshold(Scheme scheme);

}  // namespace measure
