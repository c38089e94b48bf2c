#include "proxy/request/client_access.hpp"

#include <optional>
#include <ranges>

#include "base/net/plain_address.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/forwarded.hpp"

namespace proxy {
namespace {

namespace ip = boost::asio::ip;
using boost::beast::http::field;

/// `10.0.0.7`, `10.0.0.7:1234`, `::1`, `[::1]:1234`.
std::optional<ip::address> parse_node(std::string_view text) {
    if (text.starts_with('[')) {
        const auto close = text.find(']');
        if (close == std::string_view::npos) return std::nullopt;
        text = text.substr(1, close - 1);
    } else if (const auto colon = text.find(':'); colon == text.rfind(':')) {
        text = text.substr(0, colon);
    }
    boost::system::error_code error;
    const auto address = ip::make_address(std::string(text), error);
    if (error) return std::nullopt;
    return base::plain_address(address);
}

/// Is there anybody who may not ask?
bool chooses(const ClientsConfig& clients) {
    static const ClientsConfig everybody;
    return !clients.deny.empty() || !(clients.allow == everybody.allow);
}

}  // namespace

ClientRights rights_of(const Config& config, const ip::address& client) {
    const auto& clients = config.clients;
    return {clients.allow.contains(client) && !clients.deny.contains(client),
            config.forward.clients.contains(client)};
}

ForwardedClient forwarded_client(Fields request, const PrefixList& trusted_proxies) {
    using State = ForwardedClient::State;
    ForwardedClient found;
    for (const auto& line : request | std::views::reverse) {
        if (!iequals(line.name, kForwardedFor)) continue;
        for (auto rest = line.value; !rest.empty();) {
            const auto comma = rest.rfind(',');
            const auto from = comma == std::string_view::npos ? 0 : comma + 1;
            const auto member = trim(rest.substr(from));
            rest = rest.substr(0, from == 0 ? 0 : comma);
            if (member.empty()) continue;
            const auto address = parse_node(member);
            if (!address) return {State::unreadable, {}};
            found = {State::known, *address};
            if (!trusted_proxies.contains(*address)) return found;
        }
    }
    return found;
}

void Requester::settle(const Config& config, const ip::address& remote, bool believes) {
    if (remote_ != remote || text_.empty()) {
        remote_ = remote;
        text_ = base::text_of(remote);
    }
    rights_ = rights_of(config, remote_);
    trusted_ = believes && config.clients.trusted_proxies.contains(remote_);
    forget();
}

void Requester::look_behind(const Config& config, Fields request) {
    using State = ForwardedClient::State;
    forget();
    const auto client = forwarded_client(request, config.clients.trusted_proxies);
    if (client.state == State::known) {
        behind_ = Behind::named;
        other_ = client.address;
        other_text_ = other_.to_string();
        behind_rights_ = rights_of(config, other_);
    } else if (client.state == State::unreadable || came_through_a_proxy(request)) {
        behind_ = Behind::unknown;
        const auto might_be_refused = client.state == State::unreadable && chooses(config.clients);
        behind_rights_ = {rights_.ask && !might_be_refused, false};
    }
}

void Requester::forget() {
    behind_ = Behind::nobody;
}

bool Requester::may_purge(const Config& config, Fields request) const {
    if (came_through_a_proxy(request) && behind_ != Behind::named) return false;
    return config.clients.purge.contains(address());
}

}  // namespace proxy
