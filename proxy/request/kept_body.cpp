#include "proxy/request/kept_body.hpp"

namespace proxy {

void KeptBody::begin(base::MemoryBudget& windows, std::uint64_t most) {
    if (is_collected()) return;
    auto room = base::read_ahead(windows, most);
    use_ = room ? Use::beginning : Use::nothing;
    if (room) room_ = std::move(*room);
}

void KeptBody::add(std::string_view piece) {
    if (piece.empty()) return;
    if (use_ == Use::nothing || bytes_.size() + piece.size() > kKeptBodyBytes) {
        forget();
        has_all_ = false;
    } else {
        bytes_.append(piece);
    }
}

bool KeptBody::find_room(base::MemoryBudget& windows) {
    auto room = base::read_ahead(windows, kKeptBodyBytes);
    if (room) room_ = std::move(*room);
    return room.has_value();
}

bool KeptBody::collect(std::string_view piece) {
    if (bytes_.size() + piece.size() > kKeptBodyBytes) return false;
    bytes_.append(piece);
    return true;
}

void KeptBody::forget() {
    if (is_collected()) return;
    use_ = Use::nothing;
    bytes_ = std::string();
    room_ = base::Charge();
}

}  // namespace proxy
