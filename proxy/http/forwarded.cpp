#include "proxy/http/forwarded.hpp"

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

}  // namespace

bool is_forwarded_field(const Field& line) {
    if (line.id == field::forwarded) return true;
    return line.id == field::unknown && (is_for(line) || is_proto(line) || is_host(line));
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
    if (keep) join(forwarded_, came, [](const Field& line) { return line.id == field::forwarded; });
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
