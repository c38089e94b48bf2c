#include "app/peer_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/http/error.hpp>
#include <chrono>
#include <cmath>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "app/clock_words.hpp"
#include "app/exit_codes.hpp"
#include "app/fail.hpp"
#include "base/net/dialer.hpp"
#include "base/net/resolver.hpp"
#include "base/text/lasting.hpp"
#include "measure/report/numbers.hpp"
#include "measure/run/node_addresses.hpp"
#include "measure/trace/printable.hpp"
#include "protocol/links/check_link.hpp"
#include "proxy/config/cluster_settings.hpp"
#include "proxy/http/http_date.hpp"
#include "proxy/http/wall_clock.hpp"
#include "proxy/upstream/peer_probe.hpp"

namespace app {
namespace {

using namespace std::chrono_literals;
using boost::system::error_code;
using protocol::Error;

constexpr auto kPatienceAtAPort = 5s;  // for one port

/// A peer to be tried. Without a name it may be this node itself.
struct Candidate {
    std::string node;
    base::HostPort http, link;
};

base::Result<std::string> dial(const protocol::PeeringConfig& config, const Candidate& peer) {
    boost::asio::io_context context(1);
    base::Resolver resolver(context.get_executor());
    base::Dialer dialer(context.get_executor());
    base::Result<std::string> out = base::make_error_code(base::Error::timed_out);
    auto work =
        protocol::check_link(config, peer.link, peer.node, resolver, dialer, kPatienceAtAPort);
    boost::asio::co_spawn(context, std::move(work),
                          [&](const std::exception_ptr& thrown, base::Result<std::string> got) {
                              if (!thrown) out = std::move(got);
                          });
    context.run();
    return out;
}

/// Prints one line for a port. Returns true if the port works.
bool print_port(const std::string& who, const char* what, const base::HostPort& at,
                const std::string& fault, const char* well = "ok") {
    fmt::print("{}: {} {}: {}\n", who, what, at.text(), fault.empty() ? well : fault.c_str());
    return fault.empty();
}

bool is_silent(const error_code& error) {
    return error == boost::beast::error::timeout;
}

double wall_seconds() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

struct HttpProbe {
    boost::system::result<measure::HttpAnswer> answer;
    bool with_header = false;
    double asked = wall_seconds(), answered = asked;
};
HttpProbe ask_http(const base::HostPort& at) {
    const std::string target(proxy::kProbeTarget);  // nodes leave this target out of their counts
    const auto begun = wall_seconds();
    auto answer = measure::http_get_if_cached(at, target, kPatienceAtAPort);
    const bool is_closed = !answer && (answer.error() == boost::beast::http::error::end_of_stream ||
                                       answer.error() == boost::asio::error::eof ||
                                       answer.error() == boost::asio::error::connection_reset);
    if (is_closed) {
        const auto begun_again = wall_seconds();
        auto again = measure::http_get_if_cached(at, target, kPatienceAtAPort,
                                                 measure::Preface::proxy_header);
        if (again) return {std::move(again), true, begun_again, wall_seconds()};
    }
    return {std::move(answer), false, begun, wall_seconds()};
}

/// The addresses at which this node itself listens.
struct ListenAddresses {
    bool link = false, http = false;
};
ListenAddresses own_places(const proxy::Config& config, const Candidate& peer) {
    if (peer.node.empty()) return {};
    return {is_own_place(config.cluster->listen, peer.link),
            is_own_place(config.listen, peer.http)};
}

/// Prints the error, and returns false.
bool print_own_place(const Candidate& peer, const ListenAddresses& own) {
    const auto who = "peer " + peer.node;
    const auto fault = [](bool is, const char* setting) {
        return is ? fmt::format("that is this node itself ({})", setting)
                  : std::string("skipped, because the other port is that of this node itself");
    };
    print_port(who, "link", peer.link, fault(own.link, "cluster.listen"));
    print_port(who, "http", peer.http, fault(own.http, "listen"));
    return false;
}

/// Returns nullopt if the candidate is this node itself, found by a name shared by all nodes.
std::optional<bool> check_one(const proxy::Config& all, const protocol::PeeringConfig& config,
                              Candidate peer) {
    if (const auto own = own_places(all, peer); own.link || own.http)
        return print_own_place(peer, own);
    const auto found = dial(config, peer);
    if (!found && found.error() == Error::own_id) return std::nullopt;
    const bool is_self = !found && peer.node.empty() && found.error() == Error::duplicate_id;
    if (is_self) return std::nullopt;
    const auto probe = ask_http(peer.http);
    const auto& answer = probe.answer;
    std::string fault;
    if (found) {
        peer.node = measure::printable(*found);
    } else {
        const auto cause = likely_cause(found.error(), !answer && is_silent(answer.error()));
        fault = protocol::reason_of(found.error()) + (cause.empty() ? "" : ": " + cause);
    }
    const auto who = peer.node.empty() ? "a node at " + peer.link.host : "peer " + peer.node;
    const bool link = print_port(who, "link", peer.link, fault);
    const bool http = print_port(who, "http", peer.http, http_fault(answer, peer.node),
                                 probe.with_header ? "ok, with a PROXY header" : "ok");
    const auto ahead =
        http ? clock_ahead(*answer, probe.asked, probe.answered) : std::optional<double>();
    if (ahead)
        fmt::print("{}: clock: {} {} that of this machine\n", who,
                   base::lasting(std::round(std::abs(*ahead))), *ahead > 0 ? "ahead of" : "behind");
    return link && http;
}

std::vector<Candidate> candidates_of(const protocol::PeeringConfig& config, bool& unknown) {
    std::vector<Candidate> out;
    for (const auto& peer : config.peers)
        if (peer.node != config.node) out.push_back({peer.node, peer.http, peer.link});
    for (const auto& name : config.dns_peers) {
        if (!name.has_ports()) {
            fmt::print("{}: found by its SRV records, which are not looked up here\n", name.name);
            continue;
        }
        try {
            for (const auto& address : measure::look_up(name.name)) {
                const auto host = address.to_string();
                out.push_back({{}, {host, name.http_port}, {host, name.link_port}});
            }
        } catch (const std::exception& error) {
            fmt::print("{}: {}\n", name.name, error.what());
            unknown = true;
        }
    }
    return out;
}

}  // namespace

bool is_own_place(const base::HostPort& listen, const base::HostPort& at) {
    namespace ip = boost::asio::ip;
    if (listen.port != at.port) return false;
    error_code no_address;
    const auto own = ip::make_address(listen.host, no_address);
    if (no_address) return false;
    std::vector<ip::address> places;
    try {
        places = measure::look_up(at.host);
    } catch (const std::exception&) {
        return false;  // dialling will report the error
    }
    return std::any_of(places.begin(), places.end(), [&](const ip::address& place) {
        if (!own.is_unspecified()) return place == own;
        if (place.is_loopback()) return true;
        // A machine sends from the address itself if it owns the address. Connecting a UDP socket
        // transmits nothing.
        boost::asio::io_context context(1);
        ip::udp::socket socket(context);
        error_code error;
        socket.connect({place, at.port}, error);
        return !error && socket.local_endpoint(error).address() == place;
    });
}

std::string likely_cause(const error_code& error, bool http_is_silent) {
    if (error == Error::hello_timeout && http_is_silent)
        return "the node hangs or is overloaded: its http port is silent, too";
    if (error == base::Error::connect_timeout)
        return "nothing answers: a firewall in between, or the wrong address";
    if (error == boost::asio::error::connection_refused)
        return "the port is closed: the node is down, or it listens at another port "
               "(cluster.listen of that node)";
    if (error == base::Error::resolve_failed || error == base::Error::resolve_timeout)
        return "the name has no address here";
    if (error == Error::hello_timeout || error == Error::connection_closed)
        return "it accepts the connection but is no link: probably another port "
               "than that of cluster.listen, or a version without encryption";
    if (error == Error::wrong_key || error == Error::bad_proof) return "it has another cluster.key";
    if (error == Error::other_hash_key)
        return "its last cluster.key is another: a rotation of keys is in progress";
    if (error == Error::rules_differ)
        return "its `rules` up to the last with `query` or `key_fields`, or its `public` and "
               "`rewrite` in `origins`, are others: make them equal";
    if (error == Error::not_encrypted) return "cluster.encrypt is on there and off here";
    if (error == Error::encrypted) return "cluster.encrypt is off there and on here";
    if (error == Error::tls_failed)
        return "it sends what is no TLS: probably another server than a link";
    if (error == Error::wrong_node) return "the node there has another name";
    if (error == Error::unknown_node)
        return "its configuration does not list this node among its peers";
    if (error == Error::duplicate_id || error == Error::own_id)
        return "it has the name of this node: it is this node itself, or one that needs a name of "
               "its own";
    if (error == Error::wrong_version || error == Error::unknown_frame ||
        error == Error::malformed_frame || error == Error::frame_too_large)
        return "it speaks another version of the protocol, or no link at all";
    if (error == Error::peers_full) return "it has as many peers as its cluster.max_peers allows";
    return {};
}

std::string http_fault(const boost::system::result<measure::HttpAnswer>& answer,
                       const std::string& peer) {
    if (!answer) {
        const auto& error = answer.error();
        if (is_silent(error))
            return error.message() +
                   ": nothing answers: the node hangs or is overloaded, or a firewall drops what "
                   "is sent there";
        const auto is_unreachable = error == boost::asio::error::host_unreachable ||
                                    error == boost::asio::error::network_unreachable;
        const auto cause =
            error == boost::asio::error::connection_refused
                ? "the port is closed: the node is down, or it listens at another port (listen of "
                  "that node)"
            : is_unreachable
                ? "no way leads there: the network, or the wrong address"
                : "no HTTP answer: another port, one with TLS, or one that wants a PROXY header "
                  "(clients.proxy_protocol)";
        return error.message() + ": " + cause;
    }
    std::string_view by = answer->via;  // the last member is the server that answered
    by = by.substr(by.rfind(',') == std::string_view::npos ? 0 : by.rfind(',') + 1);
    by = by.substr(by.rfind(' ') == std::string_view::npos ? 0 : by.rfind(' ') + 1);
    if (by.empty())
        return fmt::format("status {} of a server without Via: it is no hearsay node",
                           answer->status);
    if (peer.empty() || by == peer) return {};
    return fmt::format("that is the http port of {}", measure::printable(by));
}

std::optional<double> clock_ahead(const measure::HttpAnswer& answer, double asked,
                                  double answered) {
    const auto date = proxy::parse_http_date(answer.date, proxy::wall_now());
    if (!date) return std::nullopt;
    // The node said its Date, which lacks the part of a second, at some time in between.
    const auto said = static_cast<double>(date->time_since_epoch().count());
    const auto least = said - answered, most = said + 1 - asked;
    if (least > kClocksApart || most < -kClocksApart) return (least + most) / 2;
    return std::nullopt;
}

int check_peers(const proxy::LoadedConfig& config) {
    const auto settings = proxy::cluster_settings(config);
    if (!config.cluster || settings.security.keys.empty())
        return fail(kFailed, "there are no peers to try: the configuration has no cluster");
    bool unknown = false;
    const auto all = candidates_of(settings, unknown);
    std::size_t tried = 0, good = 0;
    for (const auto& peer : all) {
        const auto well = check_one(config, settings, peer);
        if (!well) continue;
        ++tried;
        good += *well;
    }
    if (tried == 0) return fail(kFailed, "no peer was found");
    fmt::print("{} of {} {}\n", good, measure::amount(tried, "peer"),
               tried == 1 ? "answers as it should" : "answer as they should");
    return good == tried && !unknown ? kOk : kFailed;
}

}  // namespace app
