#include "proxy/http/outcome.hpp"

#include <algorithm>

namespace proxy {

void BytesBySource::add(Source source, std::uint64_t bytes) {
    if (source == Source::memory) memory += bytes;
    if (source == Source::disk) disk += bytes;
    if (source == Source::peer) peer += bytes;
    if (source == Source::origin) origin += bytes;
}

Source BytesBySource::most() const {
    const auto own = memory + disk;
    if (own + peer + origin == 0) return Source::none;
    if (origin >= std::max(own, peer)) return Source::origin;
    if (peer >= own) return Source::peer;
    return disk >= memory ? Source::disk : Source::memory;
}

Outcome outcome_of(Source source) {
    switch (source) {
        case Source::memory:
        case Source::disk:
            return Outcome::local_hit;
        case Source::peer:
            return Outcome::peer_hit;
        case Source::origin:
            return Outcome::origin_fetch;
        case Source::none:
            break;
    }
    return Outcome::error;
}

PeerVerdict verdict_of(Refusal refusal) {
    switch (refusal) {
        case Refusal::absent:
            return PeerVerdict::false_hit;
        case Refusal::stale:
            return PeerVerdict::stale_hit;
        case Refusal::variant:
        case Refusal::busy:
        case Refusal::draining:
            return PeerVerdict::refused;
        case Refusal::unknown:
            return PeerVerdict::failure;
    }
    return PeerVerdict::failure;
}

}  // namespace proxy
