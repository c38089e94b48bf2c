#include "measure/run/failure.hpp"

namespace measure {

std::string_view to_string(Failure failure) {
    switch (failure) {
        case Failure::connect:
            return "no connection";
        case Failure::cut:
            return "connection broken";
        case Failure::timeout:
            return "no answer in time";
        case Failure::malformed:
            return "malformed answer";
        case Failure::bad_status:
            return "unexpected status";
        case Failure::refused:
            return "refused by the proxy";
        case Failure::wrong_body:
            return "wrong body";
    }
    return "?";
}

}  // namespace measure
