#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/memory/memory.hpp"
#include "proxy/rewrite/body_rewriter.hpp"
#include "proxy/rewrite/head_rewrite.hpp"

namespace proxy {

/// One response as clients of a mirror get it. Empty: as it was received. One thread.
class MirroredResponse {
public:
    using Pieces = std::vector<std::string_view>;

    void take_head(std::shared_ptr<const HeadRewrite> head) { head_ = std::move(head); }
    /// `charge`: for the memory of `rewriter`. `received`: what came along with the head.
    void begin_body(std::unique_ptr<BodyRewriter> rewriter, base::Charge charge, Pieces& received);

    bool has_head() const { return head_ != nullptr; }
    bool has_body() const { return body_ != nullptr; }
    /// All received pieces are rewritten.
    bool wants_more() const { return received_.empty(); }
    void take(Pieces& received) { received_.swap(received); }
    /// One step with the pieces that are here, into `out`; there may be no result yet.
    /// `came_whole`: no further pieces come. False: the coding is malformed.
    bool step(bool came_whole, Pieces& out);
    /// The rewritten body is at its end, too.
    bool is_done() const { return !body_ || body_->done(); }
    void drop_pieces() { received_.clear(); }

private:
    std::shared_ptr<const HeadRewrite> head_;  // viewed by the head of the response
    std::unique_ptr<BodyRewriter> body_;
    base::Charge memory_;
    Pieces received_;  // that body_ has yet to take
};

}  // namespace proxy
