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

}  // namespace measure
