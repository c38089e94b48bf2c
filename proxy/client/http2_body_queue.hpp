#pragma once

#include <boost/asio/buffer.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace proxy {

/// Bytes of the body that are not in frames yet: small pieces, which are kept here, and behind
/// them a larger one, whose bytes stay where they are until they have become frames. One thread.
class Http2BodyQueue {
public:
    void clear();
    std::uint64_t bytes() const { return kept_bytes() + views_bytes_; }
    std::size_t kept_bytes() const { return small_.size() - small_sent_; }
    bool has_views() const { return views_bytes_ > 0; }
    /// The next piece, for take_views().
    std::vector<boost::asio::const_buffer>& views() { return views_; }
    /// The views are a piece of so many bytes. True: it is kept here, and the views are gone.
    bool take_views(std::uint64_t bytes);
    void drop_views();
    void drop_kept();
    /// Keeps as many bytes as fit below `most`, and returns their number.
    std::size_t keep(boost::asio::const_buffer from, std::size_t most);
    /// Moves the first bytes to the end of `out`. Returns how many of them the views had.
    std::size_t move_to(std::string& out, std::size_t bytes);

    std::size_t capacity() const;
    void give_back();

private:
    std::string small_;
    std::size_t small_sent_ = 0;
    std::vector<boost::asio::const_buffer> views_;
    std::uint64_t views_bytes_ = 0;
};

}  // namespace proxy
