#include "proxy/upstream/mirrored_response.hpp"

namespace proxy {

void MirroredResponse::begin_body(std::unique_ptr<BodyRewriter> rewriter, base::Charge charge,
                                  Pieces& received) {
    body_ = std::move(rewriter);
    memory_ = std::move(charge);
    received_.clear();
    received_.swap(received);
}

bool MirroredResponse::step(bool came_whole, Pieces& out) {
    auto none = std::string_view();
    auto& piece = received_.empty() ? none : received_.front();
    const auto made = body_->step(piece, came_whole && received_.size() <= 1);
    if (!made) return false;
    if (piece.empty() && !received_.empty()) received_.erase(received_.begin());
    if (!made->empty()) out.push_back(*made);
    return true;
}

}  // namespace proxy
