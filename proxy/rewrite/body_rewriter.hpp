#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/rewrite/gzip_stream.hpp"
#include "proxy/rewrite/link_replacer.hpp"

namespace proxy {

/// Bytes that one rewriter holds at most, beside the longest address: for a memory budget.
inline constexpr std::size_t kRewriterBytes = 96 * 1024;
inline constexpr std::size_t kGzipRewriterBytes = kRewriterBytes + 320 * 1024;

/// Rewrites one body as it comes: undoes gzip, replaces links, applies gzip again. After
/// Mirror::up_to decoded bytes the rest keeps its links. So does the rest of a body that is more
/// than kMaxRatio times as long as its code, beyond kAlwaysReplaced, so that a few bytes of an
/// origin cost little time. A body that is said to be gzip and is not passes unchanged. One thread.
class BodyRewriter {
public:
    /// `gzip`: the body has this coding.
    BodyRewriter(LinkReplacer links, bool gzip, std::uint64_t up_to);

    /// Takes bytes off `in`, a bounded number in one call, and returns the bytes that they become.
    /// These are valid until the next call; there may be none for now. `last`: nothing follows
    /// behind `in`. Call again while `in` has bytes, and, with `last`, until done(). Nothing: the
    /// coding is broken, or the body is a bomb: beyond the bound it is more than kMaxRatio times
    /// as long as its code.
    std::optional<std::string_view> step(std::string_view& in, bool last);
    /// All has been returned.
    bool done() const { return done_; }

    static constexpr std::uint64_t kMaxRatio = 100;
    static constexpr std::uint64_t kAlwaysReplaced = 1 << 20;

private:
    bool decide_coding(std::string_view& in, bool last);
    bool step_gzip(std::string_view& in, bool last);
    void replace(std::string_view& in, bool last, std::string& out);

    LinkReplacer links_;
    std::unique_ptr<GzipDecoder> decoder_;  // null: without a coding
    std::unique_ptr<GzipEncoder> encoder_;
    const std::uint64_t most_;
    std::uint64_t up_to_;  // less than `most_` once the body is too long for its code
    std::uint64_t coded_ = 0, decoded_ = 0;  // bytes so far
    std::string begin_;                      // of a coded body, until its coding is proven
    bool is_proven_ = false;
    bool done_ = false;
    std::string plain_, changed_, out_;
};

}  // namespace proxy
