#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory/kept_memory.hpp"
#include "proxy/http/cache_key.hpp"
#include "proxy/http/fields.hpp"

namespace proxy {

inline constexpr std::string_view kForwardedFor = "X-Forwarded-For";
inline constexpr std::string_view kForwardedProto = "X-Forwarded-Proto";
inline constexpr std::string_view kForwardedHost = "X-Forwarded-Host";

/// Treatment of the fields that name the client to an origin.
enum class ForwardedMode : std::uint8_t { off, append, replace };

/// How a node names itself in Via of requests to origins: by its name, by via_pseudonym()
/// (via.hpp), or not at all.
enum class ViaMode : std::uint8_t { full, pseudonym, off };

/// X-Forwarded-For, -Proto, -Host and Forwarded. They go to origins; peers get none.
bool is_forwarded_field(const Field& line);

/// Whether the line is a trace of a proxy: Via, Forwarded or X-Forwarded-For.
bool is_trace_of_proxy(boost::beast::http::field id, std::string_view name);
bool came_through_a_proxy(Fields request);

/// The target that a trusted proxy's client has requested, as the proxy states it.
struct StatedTarget {
    std::optional<Scheme> scheme;  // http or https
    std::string_view host;         // may have a port; empty if the proxy states none
};
/// Reads X-Forwarded-Proto and -Host; a request with none of the three X- fields states its target
/// by Forwarded. The first member of a list counts, which is the outermost proxy's.
StatedTarget stated_target(Fields request);

/// The parts of a target that a trusted proxy has stated; the key follows it.
struct StatedParts {
    bool scheme = false, host = false;
};

/// Properties of a request that this node forwards.
struct ForwardedHop {
    ForwardedMode mode = ForwardedMode::off;
    bool trusted = false;          // it came from a trusted proxy, whose fields stay
    StatedParts stated{};          // by the proxy
    std::string_view sender;       // address of the connection; empty for a peer's
    std::string_view client;       // the sender, or the client that a trusted proxy names
    Scheme scheme = Scheme::http;  // of the key
    std::string_view host;         // of the key
};

/// Rewrites the forwarding fields of one request after another for the next hop. An origin may vary
/// by these fields, so a look-up has to use the same values. An origin also builds links and
/// redirections from scheme and host; other clients get those from the store, so the fields carry
/// the scheme and host of the key.
/// - X-Forwarded-For, Forwarded: `append` adds the sender to the list of a trusted proxy, and
///   replaces the list of any other sender. Forwarded repeats the list of X-Forwarded-For, if there
///   is one. `replace` names the client alone; `off` leaves both as received. Forwarded loses host
///   and proto.
/// - X-Forwarded-Proto, -Host: the values of the key. With `off` they are written if a trusted
/// proxy
///   stated them; https is always written.
class ForwardedFields {
public:
    /// The new views in `fields` last until the next call, and no longer than those of `hop`.
    void rewrite(std::vector<Field>& fields, const ForwardedHop& hop);

    std::size_t kept_bytes() const { return for_.capacity() + forwarded_.capacity(); }
    /// Ends the views and frees the memory.
    void give_back() {
        base::give_back(for_);
        base::give_back(forwarded_);
    }

private:
    void write_for(const std::vector<Field>& came, const ForwardedHop& hop);
    bool leave_out_target(const std::vector<Field>& came);
    void write_forwarded(const std::vector<Field>& came, const ForwardedHop& hop);

    std::string for_, forwarded_;  // reused for the next request
};

}  // namespace proxy
