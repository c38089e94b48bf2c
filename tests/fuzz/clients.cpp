// The bytes of clients in TLS, and the statements of proxies before this one about their clients.

#include "base/net/plain_address.hpp"
#include "proxy/client/proxy_header.hpp"
#include "proxy/http/basic_credentials.hpp"
#include "proxy/http/forwarded.hpp"
#include "proxy/request/client_access.hpp"
#include "proxy/tls/server_name.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/proxy/http/head.hpp"

#include <algorithm>
#include <string>

using namespace proxy;
using proxy::test::Head;

/// The extension server_name of a ClientHello.
int fuzz_server_name(const std::uint8_t* data, std::size_t size) {
    constexpr std::size_t kHeads = 5;
    const auto name = server_name(as_text(data, size));
    FUZZ_CHECK(name.empty() || name.size() + kHeads <= size);
    FUZZ_CHECK(name.ends_with('.') || plain_server_name(name) == name);
    FUZZ_CHECK(name.find('\0') == std::string::npos);
    return 0;
}

/// A PROXY header, and any bytes behind it.
int fuzz_proxy_header(const std::uint8_t* data, std::size_t size) {
    const auto text = as_text(data, size);
    if (proxy_header_version(text) == ProxyHeaderVersion::one) {
        const auto line = parse_proxy_header(text);
        FUZZ_CHECK(!line || (size <= kMaxProxyLine && text.find('\n') == size - 1));
        if (line && line->client) FUZZ_CHECK(base::plain_address(*line->client) == *line->client);
        return 0;
    }
    const auto rest = proxy_header_rest(text.substr(0, kProxyHeaderStart));
    if (!rest) {
        FUZZ_CHECK(!parse_proxy_header(text));
        return 0;
    }
    FUZZ_CHECK(*rest <= kMaxProxyHeaderRest);
    const auto whole = kProxyHeaderStart + *rest;
    if (text.size() != whole) FUZZ_CHECK(!parse_proxy_header(text));
    if (text.size() < whole) return 0;
    const auto header = parse_proxy_header(text.substr(0, whole));
    if (header && header->client)
        FUZZ_CHECK(base::plain_address(*header->client) == *header->client);
    return 0;
}

/// Lines of fields. The client that a trusted proxy names is the same after a pass through this
/// node, which is one of them.
int fuzz_forwarded(const std::uint8_t* data, std::size_t size) {
    std::string text(as_text(data, size));
    std::erase_if(text, [](char c) {
        return (static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n') || c == 0x7f;
    });
    const Head head(text);
    const Fields came = head;
    const PrefixList trusted{"10.0.0.0/8", "::1"};
    const auto client = forwarded_client(came, trusted);
    for (const auto mode : {ForwardedMode::off, ForwardedMode::append, ForwardedMode::replace}) {
        ForwardedHop hop;
        hop.mode = mode;
        hop.trusted = true;
        hop.sender = hop.client = "10.0.0.7";
        hop.host = "h.test";
        std::vector<Field> fields(came.begin(), came.end());
        ForwardedFields untrusting;
        untrusting.rewrite(fields, {});
        for (const auto& line : fields)
            FUZZ_CHECK(!iequals(line.name, kForwardedProto) && !iequals(line.name, kForwardedHost));
        const auto stated = stated_target(fields);
        FUZZ_CHECK(!stated.scheme && stated.host.empty());
        fields.assign(came.begin(), came.end());
        ForwardedFields rewriter;
        rewriter.rewrite(fields, hop);
        if (mode != ForwardedMode::append) continue;
        const auto lines = std::count_if(fields.begin(), fields.end(), [](const Field& line) {
            return iequals(line.name, kForwardedFor);
        });
        FUZZ_CHECK(lines == 1);
        const auto after = forwarded_client(fields, trusted);
        if (client.state == ForwardedClient::State::known)
            FUZZ_CHECK(after.state == client.state && after.address == client.address);
        FUZZ_CHECK((after.state == ForwardedClient::State::unreadable) ==
                   (client.state == ForwardedClient::State::unreadable));
    }
    return 0;
}

/// Accepted credentials have no byte that a users' file cannot have, and are read alike as a field
/// of another name spelling.
int fuzz_basic_credentials(const std::uint8_t* data, std::size_t size) {
    using State = proxy::ProxyCredentials::State;
    const auto value = as_text(data, size);
    const proxy::Field line{boost::beast::http::field::proxy_authorization, "Proxy-Authorization",
                            value};
    const auto found = proxy::proxy_credentials({&line, 1});
    if (found.state != State::given) {
        FUZZ_CHECK(found.user.empty() && found.password.empty());
        return 0;
    }
    FUZZ_CHECK(!found.user.empty() && found.user.find(':') == std::string::npos);
    FUZZ_CHECK(found.user.size() <= proxy::kMaxUserBytes);
    FUZZ_CHECK(found.password.size() <= proxy::kMaxPasswordBytes);
    for (const char c : found.user + found.password)
        FUZZ_CHECK(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
    const proxy::Field twice[] = {line, line};
    FUZZ_CHECK(proxy::proxy_credentials(twice).state == State::malformed);
    return 0;
}
