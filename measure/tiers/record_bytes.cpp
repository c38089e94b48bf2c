#include "measure/tiers/record_bytes.hpp"

#include <algorithm>
#include <string>

#include "proxy/disk/footer.hpp"
#include "proxy/disk/record.hpp"

namespace measure {

std::vector<std::uint64_t> record_bytes(const Objects& objects, bool unit_objects) {
    if (unit_objects) return std::vector<std::uint64_t>(objects.size(), 1);
    const std::string head(kStoredHeadBytes, ' ');
    proxy::Record record;
    record.head = head;
    std::vector<std::uint64_t> out(objects.size());
    for (std::uint32_t object = 0; object < out.size(); ++object) {
        record.uri = objects.uri(object);
        auto left = objects.bytes(object);
        do {  // what is larger than a record goes in several
            record.body_bytes = std::min(left, proxy::kMaxRecordBody);
            const auto sizes = proxy::sizes_of(record);
            out[object] += (sizes ? sizes->total() : record.body_bytes) + footer_bytes(record);
            left -= record.body_bytes;
        } while (left > 0);
    }
    return out;
}

}  // namespace measure
