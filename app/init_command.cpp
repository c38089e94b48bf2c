#include "app/init_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "app/command_line.hpp"
#include "app/fail.hpp"
#include "app/new_file.hpp"
#include "base/net/plain_address.hpp"
#include "base/tls/crypto.hpp"
#include "measure/trace/printable.hpp"
#include "proxy/config/parse_config.hpp"

namespace app {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr const char* kInitFooter =
    R"(Each NODE is [NAME=]HOST[:PORT], the address for its requests; the default port is 3128. Its links use the
next port, and its admin port is on its own loopback. Default names are a, b, ... Existing files stay.

  hearsay init 10.0.0.1 10.0.0.2 10.0.0.3 --out cluster --cache 2GiB

Exit codes: 0; 1 if a file exists or cannot be written; 2 usage.)";

constexpr std::uint16_t kHttpPort = 3128, kStep = 10;
constexpr const char* kKeyName = "HEARSAY_CLUSTER_KEY";

std::string letter_name(std::size_t number) {
    std::string out;
    for (++number; number > 0; number /= 26) out.insert(out.begin(), char('a' + --number % 26));
    return out;
}

std::string new_key() {
    std::array<std::byte, 32> bytes{};
    base::random_bytes(bytes);
    std::string out;
    for (const auto each : bytes) out += fmt::format("{:02x}", std::to_integer<unsigned>(each));
    return out;
}

/// The host to listen at: the node's own address if it is given as one, otherwise every address.
std::string listen_host(const std::string& host) {
    boost::system::error_code no_address;
    boost::asio::ip::make_address(host, no_address);
    return no_address ? "0.0.0.0" : host;
}

/// Normalises a host. Throws std::invalid_argument for a host that peers cannot reach, and for a
/// mistyped address, because a host name ends in a label with a letter (RFC 1123 §2.1).
std::string plain_host(const std::string& host) {
    boost::system::error_code no_address;
    const auto address = boost::asio::ip::make_address(host, no_address);
    if (!no_address) {
        const auto plain = base::plain_address(address);
        if (plain.is_unspecified())
            throw std::invalid_argument(
                host + " stands for every address of a machine: give the one that peers can reach");
        return plain.to_string();
    }
    auto name = host.substr(0, host.find_last_not_of('.') + 1);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
    const auto last = name.substr(name.rfind('.') + 1);  // the whole name if it has no dot
    if (last.find_first_not_of("0123456789") == std::string::npos)
        throw std::invalid_argument(host + " is neither an IP address nor the name of a host");
    return name;
}

/// Nodes of one machine may have a loopback address each, and then share the admin port number.
bool loopback(const std::string& host) {
    boost::system::error_code no_address;
    const auto address = boost::asio::ip::make_address(host, no_address);
    return !no_address && address.is_loopback();
}

}  // namespace

std::vector<PlannedNode> plan_nodes(const std::vector<std::string>& nodes) {
    std::vector<PlannedNode> out;
    std::map<std::string, std::uint16_t> on_host;  // nodes so far
    std::map<std::string, std::string> spelled;    // by plain_host()
    std::set<std::string> names, places;
    for (const auto& text : nodes) {
        const auto equals = text.find('=');
        auto& node = out.emplace_back();
        node.name =
            equals == std::string::npos ? letter_name(out.size() - 1) : text.substr(0, equals);
        const auto address = equals == std::string::npos ? text : text.substr(equals + 1);
        node.http = measure::parse_address(address, 1);
        const auto known = spelled.emplace(plain_host(node.http.host), node.http.host).first;
        if (known->second != node.http.host)
            throw std::invalid_argument(fmt::format("{} and {} are one address: spell it one way",
                                                    known->second, node.http.host));
        const auto number = on_host[node.http.host]++;
        if (node.http.port <= 1)
            node.http.port = static_cast<std::uint16_t>(kHttpPort + number * kStep);
        if (node.http.port == 65'535)
            throw std::invalid_argument(text + " leaves no port for the link, which has the next");
        node.link = {node.http.host, static_cast<std::uint16_t>(node.http.port + 1)};
        const auto admin_host = loopback(node.http.host) ? node.http.host : "127.0.0.1";
        node.admin = {admin_host, static_cast<std::uint16_t>(proxy::kAdminPort + number * kStep)};
        if (!names.insert(node.name).second)
            throw std::invalid_argument("two nodes are called " + node.name);
        if (!places.insert(node.http.text()).second || !places.insert(node.link.text()).second)
            throw std::invalid_argument("two nodes have the same port at " + node.http.host);
    }
    return out;
}

std::string configuration_of(const PlannedNode& node, const std::vector<PlannedNode>& all,
                             const InitCommand& command) {
    const auto host = listen_host(node.http.host);
    Json out = Json::object();
    out["node"] = node.name;
    out["listen"] = base::HostPort{host, node.http.port}.text();
    out["admin"]["listen"] = node.admin.text();
    if (command.origin.empty())
        out["forward"]["enabled"] = true;
    else
        out["origins"] = Json::array({{{"host", "*"}, {"url", command.origin}}});
    out["cache"]["memory"] = command.memory;
    auto& cluster = out["cluster"];
    cluster["key"] = fmt::format("${{{}}}", kKeyName);
    cluster["listen"] = base::HostPort{host, node.link.port}.text();
    cluster["peers"] = Json::array();
    for (const auto& peer : all)
        if (peer.name != node.name)
            cluster["peers"].push_back(
                {{"node", peer.name}, {"http", peer.http.text()}, {"link", peer.link.text()}});
    return out.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

Command add_init(CLI::App& app) {
    auto& command = *app.add_subcommand(
        "init", "Writes matching configurations for the nodes of a cluster, and a cluster key");
    const auto init = std::make_shared<InitCommand>();
    command.footer(kInitFooter);
    option(command, "nodes", "NODE...", init->nodes, "Two or more")->required();
    option(command, "--out", "FOLDER", init->folder,
           "Folder of the files; created if it is missing")
        ->capture_default_str();
    option(command, "--cache", "SIZE", init->memory, "Memory of each cache")->capture_default_str();
    option(command, "--origin", "URL", init->origin,
           "Makes reverse proxies for this server; the default is forward proxies");
    return {&command, [init] { return init_command(*init); }};
}

int init_command(const InitCommand& command) {
    return reported([&] {
        const auto nodes = plan_nodes(command.nodes);
        if (nodes.size() < 2)
            return fail(kUsage,
                        "init needs the addresses of two nodes or more; see hearsay help "
                        "init");
        const auto key = new_key();
        std::vector<std::pair<fs::path, std::string>> files;
        const fs::path folder = command.folder;
        for (const auto& node : nodes) {
            const auto text = configuration_of(node, nodes, command);
            const auto read = proxy::parse_config(
                text, [&](const std::string& name) -> std::optional<std::string> {
                    if (name == kKeyName) return key;
                    return std::nullopt;
                });
            if (!read.config)
                return fail(kUsage, "{} would be no valid configuration: {}", node.name,
                            proxy::describe(read.errors));
            files.emplace_back(folder / (node.name + ".json"), text);
        }
        const auto environment = folder / "environment";
        for (const auto& [file, text] : files)
            if (fs::exists(file))
                return fail(kFailed, "{} exists already", measure::printable(file.string()));
        const bool is_new = !fs::exists(folder);
        fs::create_directories(folder);
        const auto ignored = folder / ".gitignore";
        if (is_new) write_new(ignored, "*\n", 0644);
        write_new(environment, fmt::format("{}={}\n", kKeyName, key), 0600);
        fmt::print("{}: the cluster key, the same for all nodes; keep it secret\n",
                   environment.string());
        for (const auto& [file, text] : files) {
            write_new(file, text, 0644);
            fmt::print("{}\n", file.string());
        }
        if (is_new)
            fmt::print("{}: keeps git from committing the key, and all of this folder\n",
                       ignored.string());
        fmt::print(
            "\nCopy each file and the environment to its node, start the nodes, and check that "
            "they "
            "reach each other:\n\n"
            "  set -a; . {0}; set +a\n  hearsay run {1}\n  hearsay check --peers {1}\n",
            environment.string(), files.front().first.string());
        if (command.origin.empty())
            fmt::print(
                "\nThe nodes are forward proxies for clients at loopback and private addresses; "
                "forward.clients changes that.\n");
        return kOk;
    });
}

}  // namespace app
