#include "measure/run/request_failure.hpp"

namespace measure {

std::string_view to_string(RequestFailure failure) {
    switch (failure) {
        case RequestFailure::connect:
            return "no connection";
        case RequestFailure::cut:
            return "connection broken";
        case RequestFailure::timeout:
            return "no answer in time";
        case RequestFailure::malformed:
            return "malformed answer";
        case RequestFailure::bad_status:
            return "unexpected status";
        case RequestFailure::refused:
            return "refused by the proxy";
        case RequestFailure::wrong_body:
            return "wrong body";
    }
    return "?";
}

}  // namespace measure
