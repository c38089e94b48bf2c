#include "proxy/http/upgrade.hpp"

#include <algorithm>

#include "proxy/http/field_list.hpp"

namespace proxy {
namespace {

using boost::beast::http::field;

constexpr std::string_view kWebSocket = "websocket";

/// Without the version of `protocol-name ["/" protocol-version]`.
std::string_view name_of(std::string_view protocol) {
    return protocol.substr(0, protocol.find('/'));
}

bool has_member(Fields fields, field list, std::string_view wanted) {
    FieldMembers members(fields, list);
    while (const auto member = members.next())
        if (iequals(*member, wanted)) return true;
    return false;
}

}  // namespace

UpgradeDecision upgrade_wish(Fields request, int version, std::span<const std::string> allowed) {
    UpgradeDecision wish;
    if (version < 11 || !find(request, field::upgrade) ||
        !has_member(request, field::connection, "upgrade"))
        return wish;
    auto websocket = false;
    FieldMembers protocols(request, field::upgrade);
    while (const auto protocol = protocols.next()) {
        const auto name = name_of(*protocol);
        if (std::none_of(allowed.begin(), allowed.end(),
                         [&](const auto& known) { return iequals(known, name); })) {
            websocket = websocket || iequals(name, kWebSocket);
            continue;
        }
        if (!wish.protocols.empty()) wish.protocols.append(", ");
        wish.protocols.append(*protocol);
    }
    using State = UpgradeDecision::State;
    wish.state = !wish.protocols.empty() ? State::allowed
                 : websocket             ? State::refused
                                         : State::none;
    return wish;
}

bool switches_to(Fields response, std::string_view protocols) {
    FieldMembers named(response, field::upgrade);
    const auto first = named.next();
    if (!first) return false;
    ListMembers asked(protocols);
    while (const auto protocol = asked.next())
        if (iequals(name_of(*protocol), name_of(*first))) return true;
    return false;
}

}  // namespace proxy
