#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "proxy/http/cache_key.hpp"
#include "proxy/http/fields.hpp"
#include "proxy/http/kept_memory.hpp"

namespace proxy {

inline constexpr std::string_view kForwardedFor = "X-Forwarded-For";
inline constexpr std::string_view kForwardedProto = "X-Forwarded-Proto";
inline constexpr std::string_view kForwardedHost = "X-Forwarded-Host";

/// How the fields that tell an origin of the client are written.
enum class ForwardedMode : std::uint8_t { off, append, replace };

/// X-Forwarded-For, -Proto, -Host and Forwarded: for origins, never for peers.
bool is_forwarded_field(const Field& line);

/// Does such a line say that somebody passed the request on: Via, Forwarded, X-Forwarded-For?
bool tells_of_a_proxy(boost::beast::http::field id, std::string_view name);
bool came_through_a_proxy(Fields request);

/// What this node knows of the request it passes on.
struct ForwardedHop {
    ForwardedMode mode = ForwardedMode::off;
    bool trusted = false;     // it came from a trusted proxy, whose word is kept
    std::string_view sender;  // who connected, as text; empty: a peer, which says nothing of it
    std::string_view client;  // whom it is from; the sender, unless a trusted proxy named another
    Scheme scheme = Scheme::http;
    std::string_view host;  // as the key has it
};

/// Writes these fields of one request after another as the next hop is to read them. What an origin
/// is told, it may vary by, so a response that varies has to be found by the same values.
/// - X-Forwarded-For, Forwarded: `append` adds the sender to what a trusted proxy said and replaces
///   what anybody else did; Forwarded follows X-Forwarded-For where that came. `replace` says the
///   client alone; `off` leaves them as they came.
/// - X-Forwarded-Proto, -Host: a trusted proxy's word is kept but for `replace`; nobody else's is,
///   in any mode, as origins build links and redirections from them that others would get from the
///   store. Of an https target, this node says https.
class ForwardedFields {
public:
    /// The views put into `fields` last until the next call; `hop`'s have to outlive them too.
    void rewrite(std::vector<Field>& fields, const ForwardedHop& hop);

    std::size_t kept_bytes() const { return for_.capacity() + forwarded_.capacity(); }
    /// Ends the views; keeps nothing.
    void give_back() {
        proxy::give_back(for_);
        proxy::give_back(forwarded_);
    }

private:
    void write_for(const std::vector<Field>& came, const ForwardedHop& hop);
    void write_forwarded(const std::vector<Field>& came, const ForwardedHop& hop);

    std::string for_, forwarded_;  // kept from request to request for their memory
};

}  // namespace proxy
