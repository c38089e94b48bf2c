#include "proxy/http/forwarded.hpp"

#include <algorithm>

#include "proxy/http/field_list.hpp"

namespace proxy {
namespace {

using boost::beast::http::field;

bool is_proto(const Field& line) {
    return iequals(line.name, kForwardedProto);
}
bool is_host(const Field& line) {
    return iequals(line.name, kForwardedHost);
}
bool is_for(const Field& line) {
    return iequals(line.name, kForwardedFor);
}

/// A parameter's value (RFC 7239 §4): quoted unless it is a token.
void append_value(std::string& out, std::string_view text) {
    if (is_token(text)) return void(out.append(text));
    out.push_back('"');
    for (const char c : text) {
        if (c == '"' || c == '\\') out.push_back('\\');
        out.push_back(c);
    }
    out.push_back('"');
}

/// A node (RFC 7239 §6): an IPv6 address in brackets and quotes.
void append_node(std::string& out, std::string_view address) {
    if (address.find(':') == std::string_view::npos) return void(out.append(address));
    out.append("\"[").append(address).append("]\"");
}

template <class Is>
void join(std::string& out, const std::vector<Field>& lines, Is is) {
    for (const auto& line : lines)
        if (is(line) && !line.value.empty()) out.append(line.value).append(", ");
}

/// The members of X-Forwarded-For as elements of Forwarded; false when there are none.
bool append_chain(std::string& out, const std::vector<Field>& lines) {
    const auto begin = out.size();
    for (const auto& line : lines) {
        if (!is_for(line)) continue;
        for (auto rest = line.value; !rest.empty();) {
            const auto comma = std::min(rest.find(','), rest.size());
            const auto member = trim(rest.substr(0, comma));
            rest.remove_prefix(std::min(comma + 1, rest.size()));
            if (member.empty()) continue;
            out.append("for=");
            const auto is_ipv6 = std::count(member.begin(), member.end(), ':') > 1;
            if (is_ipv6 && member.front() != '[')
                append_node(out, member);
            else
                append_value(out, member);
            out.append(", ");
        }
    }
    return out.size() > begin;
}

}  // namespace

bool is_forwarded_field(const Field& line) {
    if (line.id != field::unknown) return line.id == field::forwarded;
    switch (line.name.size()) {  // all three differ in it
        case kForwardedFor.size():
            return is_for(line);
        case kForwardedProto.size():
            return is_proto(line);
        case kForwardedHost.size():
            return is_host(line);
        default:
            return false;
    }
}

bool tells_of_a_proxy(field id, std::string_view name) {
    return id == field::via || id == field::forwarded ||
           (id == field::unknown && iequals(name, kForwardedFor));
}

bool came_through_a_proxy(Fields request) {
    return std::any_of(request.begin(), request.end(),
                       [](const Field& line) { return tells_of_a_proxy(line.id, line.name); });
}

void ForwardedFields::write_for(const std::vector<Field>& came, const ForwardedHop& hop) {
    for_.clear();
    const auto keep = hop.trusted && hop.mode == ForwardedMode::append;
    if (keep) join(for_, came, is_for);
    for_.append(keep ? hop.sender : hop.client);
}

void ForwardedFields::write_forwarded(const std::vector<Field>& came, const ForwardedHop& hop) {
    forwarded_.clear();
    const auto keep = hop.trusted && hop.mode == ForwardedMode::append;
    // X-Forwarded-For says who the client is. Where it came, a proxy that speaks it alone will have
    // passed on what the client itself wrote in Forwarded.
    const auto chain = keep && append_chain(forwarded_, came);
    if (keep && !chain)
        join(forwarded_, came, [](const Field& line) { return line.id == field::forwarded; });
    forwarded_.append("for=");
    append_node(forwarded_, keep ? hop.sender : hop.client);
    forwarded_.append(";host=");
    append_value(forwarded_, hop.host);
    forwarded_.append(hop.scheme == Scheme::https ? ";proto=https" : ";proto=http");
}

void ForwardedFields::rewrite(std::vector<Field>& fields, const ForwardedHop& hop) {
    const auto on = hop.mode != ForwardedMode::off;
    const auto keep = hop.trusted && hop.mode != ForwardedMode::replace;
    const auto keep_proto = keep && hop.scheme == Scheme::http;
    auto says_proto = false, says_host = false;
    if (on && !hop.sender.empty()) {
        write_for(fields, hop);
        write_forwarded(fields, hop);
    }
    std::erase_if(fields, [&](const Field& line) {
        if (line.id == field::forwarded) return on;
        if (line.id != field::unknown) return false;
        if (is_for(line)) return on;
        if (is_proto(line)) {
            says_proto = says_proto || keep_proto;
            return !keep_proto;
        }
        if (!is_host(line)) return false;
        says_host = says_host || keep;
        return !keep;
    });
    if (hop.scheme == Scheme::https || (on && !says_proto))
        fields.push_back(
            {field::unknown, kForwardedProto, hop.scheme == Scheme::https ? "https" : "http"});
    if (!on) return;
    if (!says_host) fields.push_back({field::unknown, kForwardedHost, hop.host});
    if (hop.sender.empty()) return;
    fields.push_back({field::unknown, kForwardedFor, for_});
    fields.push_back({field::forwarded, "Forwarded", forwarded_});
}

}  // namespace proxy
