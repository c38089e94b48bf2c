#pragma once

#include <optional>

#include "protocol/wire/error.hpp"
#include "summary/coding/judge.hpp"

namespace protocol {

/// The error for a refused summary, or nullopt for an accepted one.
inline std::optional<Error> reason_against(summary::DescriptorVerdict verdict) {
    switch (verdict) {
        case summary::DescriptorVerdict::accepted:
            return std::nullopt;
        case summary::DescriptorVerdict::unknown_kind:
            return Error::unknown_kind;
        case summary::DescriptorVerdict::malformed:
            return Error::malformed_summary;
        case summary::DescriptorVerdict::too_large:
            return Error::summary_too_large;
    }
    return Error::malformed_summary;
}

}  // namespace protocol
