#include "proxy/http/outcome.hpp"

#include <algorithm>

namespace proxy {

std::string_view to_string(CacheResult result) {
    switch (result) {
        case CacheResult::hit:
            return "hit";
        case CacheResult::miss:
            return "miss";
        case CacheResult::stale:
            return "stale";
        case CacheResult::reval:
            return "reval";
        case CacheResult::bypass:
            return "bypass";
        case CacheResult::partial:
            return "partial";
    }
    return "?";
}

std::string_view to_string(Source source) {
    switch (source) {
        case Source::none:
            return "none";
        case Source::memory:
            return "memory";
        case Source::disk:
            return "disk";
        case Source::peer:
            return "peer";
        case Source::origin:
            return "origin";
    }
    return "?";
}

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

std::string_view to_string(Role role) {
    return role == Role::peer ? "peer" : "client";
}

std::string_view to_string(PeerVerdict verdict) {
    switch (verdict) {
        case PeerVerdict::not_asked:
            return "not_asked";
        case PeerVerdict::hit:
            return "hit";
        case PeerVerdict::false_hit:
            return "false_hit";
        case PeerVerdict::stale_hit:
            return "stale_hit";
        case PeerVerdict::refused:
            return "refused";
        case PeerVerdict::timeout:
            return "timeout";
        case PeerVerdict::failure:
            return "failure";
        case PeerVerdict::unusable:
            return "unusable";
        case PeerVerdict::outrun:
            return "outrun";
        case PeerVerdict::pending:
            return "pending";
    }
    return "?";
}

std::string_view to_string(Refusal refusal) {
    switch (refusal) {
        case Refusal::absent:
            return "absent";
        case Refusal::variant:
            return "variant";
        case Refusal::stale:
            return "stale";
        case Refusal::busy:
            return "busy";
        case Refusal::draining:
            return "draining";
        case Refusal::unknown:
            return "unknown";
    }
    return "?";
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
