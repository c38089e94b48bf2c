#include "proxy/rewrite/body_rewriter.hpp"

#include <algorithm>
#include <utility>

namespace proxy {
namespace {

constexpr std::string_view kGzipMagic = "\x1f\x8b";

}  // namespace

BodyRewriter::BodyRewriter(LinkReplacer links, bool gzip, std::uint64_t up_to)
    : links_(std::move(links)), most_(up_to), up_to_(up_to), is_proven_(!gzip) {
    if (!gzip) return;
    decoder_ = std::make_unique<GzipDecoder>();
    encoder_ = std::make_unique<GzipEncoder>();
}

std::optional<std::string_view> BodyRewriter::step(std::string_view& in, bool last) {
    out_.clear();
    if (done_) {
        in = {};
        return out_;
    }
    if (!is_proven_ && !decide_coding(in, last)) return out_;
    if (decoder_) {
        if (!step_gzip(in, last)) return std::nullopt;
        return out_;
    }
    if (!begin_.empty()) {
        out_ = std::exchange(begin_, {});
        done_ = last && in.empty();
        return out_;
    }
    replace(in, last, out_);
    done_ = last && in.empty();
    return out_;
}

/// Looks at the first bytes of a body that is said to be gzip. False: more are needed.
bool BodyRewriter::decide_coding(std::string_view& in, bool last) {
    const auto more = in.substr(0, kGzipMagic.size() - begin_.size());
    begin_.append(more);
    in.remove_prefix(more.size());
    const auto ended = last && in.empty();
    if (begin_.size() < kGzipMagic.size() && !ended) return false;
    is_proven_ = true;
    if (begin_ == kGzipMagic) return true;
    decoder_.reset();
    encoder_.reset();
    decoded_ = up_to_ + 1;  // nothing is replaced
    done_ = ended && begin_.empty();
    return !done_;
}

bool BodyRewriter::step_gzip(std::string_view& in, bool last) {
    plain_.clear();
    changed_.clear();
    const auto given = in.size();
    auto begin = std::string_view(begin_);
    if (!begin.empty() && !decoder_->decode(begin, LinkReplacer::kStep, plain_)) return false;
    begin_.clear();
    if (!decoder_->decode(in, LinkReplacer::kStep - plain_.size(), plain_)) return false;
    coded_ += given - in.size();
    // The decoder may hold bytes that did not fit, so the end shows by a step without any.
    const auto ended = last && in.empty() && plain_.empty();
    if (ended && !decoder_->ended()) return false;  // cut off
    std::string_view plain = plain_;
    if (decoded_ > kAlwaysReplaced && decoded_ / kMaxRatio > coded_) up_to_ = decoded_;
    replace(plain, ended, changed_);
    if (decoded_ > most_ && decoded_ / kMaxRatio > coded_) return false;
    if (!encoder_->encode(changed_, ended, out_)) return false;
    done_ = ended;
    return true;
}

/// Up to kStep bytes. The bound stands at one byte, so that the result is the same however the body
/// is cut into pieces.
void BodyRewriter::replace(std::string_view& in, bool last, std::string& out) {
    auto left = std::min(in.size(), LinkReplacer::kStep);
    do {
        const auto within = std::min<std::uint64_t>(left, up_to_ - std::min(up_to_, decoded_));
        auto piece = in.substr(0, within > 0 ? within : left);
        in.remove_prefix(piece.size());
        left -= piece.size();
        decoded_ += piece.size();
        if (within > 0 || decoded_ <= up_to_) {
            links_.replace(piece, last && in.empty(), out);
        } else {
            links_.give_back(out);
            out.append(piece);
        }
    } while (left > 0);
}

}  // namespace proxy
