#include "measure/tiers/record_bytes.hpp"

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
        const auto taken = [&](std::uint64_t body_bytes) {
            record.body_bytes = body_bytes;
            const auto sizes = proxy::sizes_of(record);
            return (sizes ? sizes->total() : body_bytes) + footer_bytes(record);
        };
        // Larger objects take several records, all full except the last.
        const auto bytes = objects.bytes(object);
        const auto full = bytes / proxy::kMaxRecordBody, rest = bytes % proxy::kMaxRecordBody;
        if (full > 0) out[object] = full * taken(proxy::kMaxRecordBody);
        if (rest > 0 || full == 0) out[object] += taken(rest);
    }
    return out;
}

}  // namespace measure
