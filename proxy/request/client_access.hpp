#pragma once

#include <boost/asio/ip/address.hpp>
#include <cstdint>
#include <string>

#include "proxy/config/config.hpp"
#include "proxy/http/fields.hpp"

namespace proxy {

/// The rights of an address. A peer that proves itself by its token needs none of them.
struct ClientRights {
    bool ask = false;      // clients.allow, clients.deny
    bool forward = false;  // forward.clients
};
ClientRights rights_of(const Config& config, const boost::asio::ip::address& client);

/// The client that a trusted proxy's X-Forwarded-For names: the rightmost address that belongs to
/// no trusted proxy, or the first address if all of them do.
struct ForwardedClient {
    enum class State : std::uint8_t {
        absent,
        unreadable,  // the text there is no address: the client is unknown
        known,
    };
    State state = State::absent;
    boost::asio::ip::address address{};
};
ForwardedClient forwarded_client(Fields request, const PrefixList& trusted_proxies);

/// The client behind the requests of a connection, with its rights. The address of the connection
/// is judged once for each configuration; requests of a trusted proxy are judged one by one. A
/// trusted proxy may pass on a request without the name of its client: there is Via or Forwarded
/// but no X-Forwarded-For, or that holds no address. Such a client could be anybody, so it may not
/// use the forward proxy. With an unreadable address it may ask nothing, unless everybody may. One
/// thread.
class Requester {
public:
    /// `remote`: the address of the connection, or the one in its PROXY header. The caller repeats
    /// this when the configuration changes.
    /// `believes`: false inside a CONNECT that the node answers itself, where the client speaks and
    /// no proxy, whatever its address.
    void settle(const Config& config, const boost::asio::ip::address& remote, bool believes = true);
    /// Begins the next request, which belongs to the connection's address until look().
    void begin() {
        if (behind_ != Behind::nobody) forget();
    }
    /// Reads the statement of a trusted proxy about its client.
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
    /// The address of the connection, as this node sees it.
    const std::string& hop_text() const { return text_; }
    /// The owner of rights(), for the text of a refusal.
    std::string described() const {
        return behind_ == Behind::unknown ? "a client that " + text_ + " does not name" : text();
    }
    bool through_trusted_proxy() const { return trusted_; }
    /// False: a trusted proxy passes the request on and does not say for whom.
    bool is_known() const { return behind_ != Behind::unknown; }
    /// May it send PURGE? The word of an untrusted proxy, or of one that names no client, counts
    /// for nothing.
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
