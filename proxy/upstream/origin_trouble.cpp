#include "proxy/upstream/origin_trouble.hpp"

namespace proxy {
namespace {

using End = OriginHealth::End;

constexpr auto kUnreachable = OriginTrouble::unreachable;
constexpr auto kError = OriginTrouble::error;
constexpr std::optional<OriginTrouble> kNone;

// clang-format off
//                                        trouble       end                 by                  forward pass   logged
constexpr ErrorMeaning kNoName          {kUnreachable, End::unknown,        FailureSide::origin,    true,   true,  true};
constexpr ErrorMeaning kNotConnected    {kUnreachable, End::not_connected, FailureSide::origin,    true,   true,  true};
constexpr ErrorMeaning kNotAnswered     {kUnreachable, End::not_answered,  FailureSide::origin,    true,   true,  true};
constexpr ErrorMeaning kBrokeOff        {kUnreachable, End::answered,      FailureSide::origin,    true,   true,  true};
constexpr ErrorMeaning kNotTrusted      {kUnreachable, End::answered,      FailureSide::origin,    true,   false, false};
constexpr ErrorMeaning kTunnelRefused   {kUnreachable, End::answered,      FailureSide::origin,    true,   true,  false};
constexpr ErrorMeaning kNonsense        {kError,       End::answered,      FailureSide::origin,    true,   true,  true};
constexpr ErrorMeaning kAnsweredError   {kError,       End::answered,      FailureSide::origin,    true,   true,  false};
constexpr ErrorMeaning kAnsweredOther   {kError,       End::answered,      FailureSide::origin,    true,   false, false};
constexpr ErrorMeaning kBusy            {kError,       End::unknown,        FailureSide::this_node, false,  true,  true};
constexpr ErrorMeaning kNoDescriptors   {kError,       End::unknown,        FailureSide::this_node, false,  true,  false};
constexpr ErrorMeaning kSpared          {kUnreachable, End::unknown,        FailureSide::this_node, false,  true,  false};
constexpr ErrorMeaning kBackedOff       {kError,       End::unknown,        FailureSide::this_node, false,  true,  false};
constexpr ErrorMeaning kForbidden       {kNone,        End::unknown,        FailureSide::rule,      false,  false, false};
constexpr ErrorMeaning kAbandoned       {kError,       End::unknown,        FailureSide::nobody,    true,   false, false};
constexpr ErrorMeaning kStopping        {kError,       End::unknown,        FailureSide::nobody,    false,  false, false};
// clang-format on

}  // namespace

const ErrorMeaning& consequences_of(FetchError error) {
    switch (error) {
        case FetchError::resolve_failed:
        case FetchError::resolve_timeout:
            return kNoName;
        case FetchError::connect_timeout:
            return kNotConnected;
        case FetchError::head_timeout:
            return kNotAnswered;
        case FetchError::connect_failed:
        case FetchError::body_timeout:
        case FetchError::reset:
            return kBrokeOff;
        case FetchError::tls_failed:
        case FetchError::parent_denied:
        case FetchError::parent_tls_failed:
            return kNotTrusted;
        case FetchError::parent_refused:
            return kTunnelRefused;
        case FetchError::malformed:
            return kNonsense;
        case FetchError::origin_error:
            return kAnsweredError;
        case FetchError::none:
        case FetchError::changed:
        case FetchError::part_refused:
        case FetchError::not_in_parts:
            return kAnsweredOther;
        case FetchError::busy:
            return kBusy;
        case FetchError::no_descriptors:
            return kNoDescriptors;
        case FetchError::origin_down:
            return kSpared;
        case FetchError::backed_off:
            return kBackedOff;
        case FetchError::not_allowed:
        case FetchError::own_listener:
            return kForbidden;
        case FetchError::abandoned:
            return kAbandoned;
        case FetchError::stopping:
            return kStopping;
    }
    return kAnsweredOther;
}

}  // namespace proxy
