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
inline constexpr std::array kReplacements{
    Replacement::s3_fifo, Replacement::sieve,      Replacement::w_tiny_lfu,   Replacement::gdsf,
    Replacement::lru,     Replacement::lru_copies, Replacement::lru_keep_last};

/// As the command line and the JSON call it: "icp", "paper_bloom".
std::string_view name(Scheme scheme);
std::string_view name(Replacement replacement);
std::optional<Scheme> scheme_named(std::string_view name);
std::optional<Replacement> replacement_named(std::string_view name);
std::optional<proxy::CopyPolicy> copy_named(std::string_view name);

/// As tables call it, with what tells it from its like: "Bloom 16, 1%", "quotient". 22 characters
/// at most.
std::string title_of(const SimulationConfig& config);

/// The same for what becomes of a peer's copy: "copy always".
std::string copy_title(proxy::CopyPolicy copy);

/// Does it tell others what it holds when a part of that has changed?
bool has_threshold(Scheme scheme);

}  // namespace measure
