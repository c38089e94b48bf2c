#include "measure/tiers/tiers_name.hpp"

namespace measure {

std::string_view name(DiskOrder order) {
    switch (order) {
        case DiskOrder::segments:
            return "segments";
        case DiskOrder::fifo:
            return "fifo";
        case DiskOrder::lru:
            return "lru";
        case DiskOrder::gdsf:
            return "gdsf";
    }
    return "";
}

std::string_view name(Admission admission) {
    switch (admission) {
        case Admission::always:
            return "always";
        case Admission::second_request:
            return "second_request";
    }
    return "";
}

}  // namespace measure
