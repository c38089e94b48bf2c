#pragma once

#include <boost/asio/ip/address.hpp>
#include <cstdint>
#include <string>

#include "proxy/config/config.hpp"
#include "proxy/http/fields.hpp"

namespace proxy {

/// What an address may do here. Peers that prove themselves by their token are let in without.
struct ClientRights {
    bool ask = false;      // clients.allow, clients.deny
    bool forward = false;  // forward.clients
};
ClientRights rights_of(const Config& config, const boost::asio::ip::address& client);

/// Whom a trusted proxy's X-Forwarded-For names: the last address, from the right, that is not a
/// trusted proxy's; the first one if all are.
struct ForwardedClient {
    enum class State : std::uint8_t {
        absent,
        unreadable,  // what stands there is no address: nobody knows
        known,
    };
    State state = State::absent;
    boost::asio::ip::address address{};
};
ForwardedClient forwarded_client(Fields request, const PrefixList& trusted_proxies);

/// Who is behind a connection's requests. What the connection's address decides is decided once for
/// a configuration; only requests of a trusted proxy are looked at one by one. Where it passes one
/// on for somebody that it does not name (what stands in X-Forwarded-For is no address; or there is
/// none, but Via or Forwarded), that may be anybody: it forwards nothing, and with an address that
/// cannot be read it asks nothing either, unless everybody may. One thread.
class Requester {
public:
    /// `remote`: of the connection, or what its PROXY header says. Again when the configuration
    /// changes.
    void settle(const Config& config, const boost::asio::ip::address& remote);
    /// The next request; until look() has seen it, it is the connection's.
    void begin() {
        if (behind_ != Behind::nobody) forget();
    }
    /// Reads what a trusted proxy says.
    void look(const Config& config, Fields request) {
        if (trusted_) look_behind(config, request);
    }

    const ClientRights& rights() const {
        return behind_ == Behind::nobody ? rights_ : behind_rights_;
    }
    const boost::asio::ip::address& address() const {
        return behind_ == Behind::named ? other_ : remote_;
    }
    /// The same as text, for logs and fields.
    const std::string& text() const { return behind_ == Behind::named ? other_text_ : text_; }
    /// The connection's, which is what this node sees itself.
    const std::string& hop_text() const { return text_; }
    /// For an answer that refuses: of whom rights() are.
    std::string described() const {
        return behind_ == Behind::unknown ? "a client that " + text_ + " does not name" : text();
    }
    bool through_trusted_proxy() const { return trusted_; }
    /// May PURGE? Not on the word of a proxy that is not trusted, or does not say for whom.
    bool may_purge(const Config& config, Fields request) const;

private:
    void look_behind(const Config& config, Fields request);
    void forget();

    boost::asio::ip::address remote_, other_;
    std::string text_, other_text_;
    ClientRights rights_, behind_rights_;
    bool trusted_ = false;
    enum class Behind : std::uint8_t { nobody, named, unknown } behind_ = Behind::nobody;
};

}  // namespace proxy
