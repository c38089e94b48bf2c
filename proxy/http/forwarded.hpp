#pragma once

#include <optional>
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

/// What a trusted proxy says its client has asked it for: the target as that knows it.
struct StatedTarget {
    std::optional<Scheme> scheme;  // http and https alone
    std::string_view host;         // with a port, perhaps; empty: nothing is said
};
/// By X-Forwarded-Proto and -Host, and only where none of the three X- fields came by Forwarded. Of
/// a list the first member, which is the outermost proxy's.
StatedTarget stated_target(Fields request);

/// What this node knows of the request it passes on.
struct ForwardedHop {
    ForwardedMode mode = ForwardedMode::off;
    bool trusted = false;  // it came from a trusted proxy, whose word is kept
    bool states_scheme = false, states_host = false;  // that proxy does, and the key goes by it
    std::string_view sender;  // who connected, as text; empty: a peer, which says nothing of it
    std::string_view client;  // whom it is from; the sender, unless a trusted proxy named another
    Scheme scheme = Scheme::http;  // as the key has it
    std::string_view host;         // likewise
};

/// Writes these fields of one request after another as the next hop is to read them. What an origin
/// is told, it may vary by, so a response that varies has to be found by the same values; and it
/// builds links and redirections from scheme and host, which others would get from the store, so it
/// is told none but those of the key.
/// - X-Forwarded-For, Forwarded: `append` adds the sender to what a trusted proxy said and replaces
///   what anybody else did; Forwarded follows X-Forwarded-For where that came. `replace` says the
///   client alone; `off` leaves them as they came. What is kept of Forwarded loses host and proto.
/// - X-Forwarded-Proto, -Host: those of the key, and nobody else's. With `off` they are said where
/// a
///   trusted proxy stated them, and https always.
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
    bool leave_out_target(const std::vector<Field>& came);
    void write_forwarded(const std::vector<Field>& came, const ForwardedHop& hop);

    std::string for_, forwarded_;  // kept from request to request for their memory
};

}  // namespace proxy
