#pragma once

#include <boost/asio/ip/address.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "proxy/config/config.hpp"
#include "proxy/http/cache_key.hpp"
#include "proxy/tls/interception.hpp"
#include "proxy/tls/leaf_certificate.hpp"

namespace proxy {

/// A CONNECT that the node has answered itself (`forward.intercept`), as the requests inside need
/// it. It lives as long as their connection. One thread.
struct InterceptedConnect {
    std::string name;  // of the CONNECT, in normal form: for this host the certificate is
    std::uint16_t port = 0;
    boost::asio::ip::address client;  // that sent the CONNECT, also from behind a trusted proxy
    /// The user that was proven at the CONNECT, and the line of the users' file that proved it.
    /// Empty without authentication.
    std::string user{}, user_hash{};
    std::shared_ptr<const Interception> interception;
    LeafPtr leaf;
    bool asked_by_name = true;  // the server name in the handshake is `name`, or absent

    /// `pypi.org`, or `pypi.org:8443`.
    std::string authority() const;
};

/// Why a request inside is not for the host of its CONNECT, if so.
enum class InterceptMismatch : std::uint8_t {
    none,
    other_target,  // scheme, host or port of the target are others
    other_name,    // the handshake was for another host
    ended,         // the host is not intercepted any more
};
/// `is_listed`: the configuration in effect intercepts the host. A plain function.
InterceptMismatch judge_intercepted(const InterceptedConnect& inside, const CacheKey& key,
                                    bool is_listed);

/// The CONNECT around the requests of one connection, if the node answers it itself; else empty.
/// A pointer to it, with what the configuration of the present request says of it.
class EnclosingConnect {
public:
    EnclosingConnect() = default;
    /// `connect` outlives this; may be null.
    EnclosingConnect(const InterceptedConnect* connect) : connect_(connect) {}

    /// From here on `forward` is in effect.
    void settle(const ForwardConfig& forward);
    InterceptMismatch judge(const CacheKey& key) const {
        return judge_intercepted(*connect_, key, is_listed_);
    }

    explicit operator bool() const { return connect_ != nullptr; }
    const InterceptedConnect& operator*() const { return *connect_; }
    const InterceptedConnect* operator->() const { return connect_; }

private:
    const InterceptedConnect* connect_ = nullptr;
    bool is_listed_ = false;
};

/// A sentence for the client. `key`: of the request.
std::string explain(InterceptMismatch fault, const InterceptedConnect& inside, const CacheKey& key);

}  // namespace proxy
