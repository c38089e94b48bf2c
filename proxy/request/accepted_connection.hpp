#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <utility>

#include "proxy/http/cache_key.hpp"
#include "proxy/request/connections_by_address.hpp"

namespace proxy {

/// Counts as one in a number until it is destroyed. An empty one counts for nothing. One thread.
class ScopedCount {
public:
    ScopedCount() = default;
    explicit ScopedCount(std::size_t& all) : all_(&all) { ++all; }
    ScopedCount(ScopedCount&& other) noexcept : all_(std::exchange(other.all_, nullptr)) {}
    ScopedCount& operator=(ScopedCount&& other) noexcept {
        std::swap(all_, other.all_);
        return *this;
    }
    ~ScopedCount() {
        if (all_) --*all_;
    }
    explicit operator bool() const { return all_ != nullptr; }

private:
    std::size_t* all_ = nullptr;
};

/// A connection that the acceptor has let in.
struct AcceptedConnection {
    // No aggregate: GCC 12 destroys those twice in a co_await expression.
    AcceptedConnection(boost::asio::ip::tcp::socket&& from, Scheme speaks,
                       boost::asio::ip::address of)
        : socket(std::move(from)), scheme(speaks), remote(std::move(of)) {}

    boost::asio::ip::tcp::socket socket;
    Scheme scheme;
    boost::asio::ip::address remote;  // without scope (base::plain_address)
    ConnectionsByAddress::Ticket ticket{};
    /// Set if its address may ask nothing: only a peer's token gets a response on it.
    ScopedCount stranger{};
};

}  // namespace proxy
