#include "proxy/upstream/origin_trouble.hpp"

namespace proxy {

std::optional<OriginTrouble> trouble_of(FetchError error) {
    switch (error) {
        case FetchError::resolve_failed:
        case FetchError::resolve_timeout:
        case FetchError::connect_failed:
        case FetchError::connect_timeout:
        case FetchError::tls_failed:
        case FetchError::head_timeout:
        case FetchError::body_timeout:
        case FetchError::reset:
        case FetchError::origin_down:
            return OriginTrouble::unreachable;
        case FetchError::not_allowed:
        case FetchError::own_listener:
            return std::nullopt;
        default:
            return OriginTrouble::error;
    }
}

bool went_forward(FetchError error) {
    switch (error) {
        case FetchError::busy:
        case FetchError::no_descriptors:
        case FetchError::not_allowed:
        case FetchError::own_listener:
        case FetchError::origin_down:
        case FetchError::stopping:
            return false;
        default:
            return true;
    }
}

}  // namespace proxy
