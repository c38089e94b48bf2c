#pragma once

#include <memory>

#include "measure/simulate/sharing.hpp"

namespace measure {

/// As the configuration says; null for schemes without.
std::unique_ptr<Sharing> make_sharing(const Shared& shared);

}  // namespace measure
