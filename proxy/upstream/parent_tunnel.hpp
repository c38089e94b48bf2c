#pragma once

#include <string>
#include <string_view>

namespace proxy {

// The words between this node and a parent proxy that opens a tunnel. Plain functions.

/// The request for a tunnel to `authority` (RFC 9110 §9.3.6). `credentials`: in base64; empty: the
/// parent asks for none. `node`: for Via.
std::string connect_request(std::string_view authority, std::string_view credentials,
                            std::string_view node);

/// The status of the head of a response; 0: it is none.
unsigned status_in_head(std::string_view head);

/// Another response follows (RFC 9110 §15.2). 101 is final: nothing was asked to switch.
constexpr bool is_interim(unsigned status) {
    return status >= 100 && status < 200 && status != 101;
}

}  // namespace proxy
