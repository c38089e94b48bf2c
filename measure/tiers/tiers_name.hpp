#pragma once

#include <array>
#include <string_view>

#include "measure/tiers/tiers_config.hpp"

namespace measure {

inline constexpr std::array kDiskOrders{DiskOrder::segments, DiskOrder::fifo, DiskOrder::lru,
                                        DiskOrder::gdsf};
inline constexpr std::array kAdmissions{proxy::DiskAdmission::always,
                                        proxy::DiskAdmission::second_request};

/// The name in tables and JSON.
std::string_view name(DiskOrder order);

}  // namespace measure
