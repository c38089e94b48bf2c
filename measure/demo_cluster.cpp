#include "measure/demo_cluster.hpp"

#include <fmt/format.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>

#include "measure/measurement.hpp"

namespace measure {
namespace {

using namespace std::chrono_literals;
using base::HostPort;
using boost::asio::ip::tcp;
using Member = DemoCluster::Member;

constexpr const char* kHost = "127.0.0.1";
struct Ports {
    std::uint16_t proxy, link, admin;
};
constexpr std::array<const char*, 3> kNames{"a", "b", "c"};
constexpr std::array<Ports, 3> kUsualPorts{
    {{3128, 3129, 9128}, {3138, 3139, 9138}, {3148, 3149, 9148}}};
constexpr std::uint16_t kUsualOriginPort = 8000;
constexpr auto kStartWithin = 20s;
constexpr int kLogLinesShown = 8;

bool is_free(boost::asio::io_context& context, std::uint16_t port) {
    boost::system::error_code error;
    tcp::acceptor probe(context, tcp::v4());
    probe.set_option(tcp::acceptor::reuse_address(true), error);
    probe.bind({boost::asio::ip::make_address(kHost), port}, error);
    return !error;
}

std::string random_key() {
    std::random_device random;
    std::string key;
    for (int i = 0; i < 8; ++i) key += fmt::format("{:08x}", random());
    return key;
}

nlohmann::ordered_json config_of(const Member& self, const std::vector<Member>& all,
                                 std::uint16_t origin_port, const std::string& key) {
    auto peers = nlohmann::ordered_json::array();
    for (const auto& other : all) {
        if (&other == &self) continue;
        peers.push_back(
            {{"node", other.name}, {"http", other.proxy.text()}, {"link", other.link.text()}});
    }
    return {
        {"node", self.name},
        {"listen", self.proxy.text()},
        {"admin", {{"listen", self.admin.text()}}},
        {"origins", {{{"host", "*"}, {"url", fmt::format("http://{}:{}", kHost, origin_port)}}}},
        {"cache", {{"memory", "512MiB"}}},
        {"cluster", {{"key", key}, {"listen", self.link.text()}, {"peers", peers}}},
        {"timeouts", {{"drain_grace", 0}}}};  // no load balancer waits for a drain here
}

}  // namespace

DemoCluster::DemoCluster(std::string directory, std::optional<std::uint64_t> disk_bytes)
    : directory_(std::move(directory)), disk_bytes_(disk_bytes), members_(kNames.size()) {
    for (std::size_t i = 0; i < members_.size(); ++i) {
        auto& member = members_[i];
        member.name = kNames[i];
        member.config = fmt::format("{}/{}.json", directory_, member.name);
        member.log = fmt::format("{}/{}.log", directory_, member.name);
    }
    choose_ports();
}

void DemoCluster::choose_ports() {
    boost::asio::io_context context(1);
    bool usual = is_free(context, kUsualOriginPort);
    for (const auto& ports : kUsualPorts) {
        for (const auto port : {ports.proxy, ports.link, ports.admin})
            usual = usual && is_free(context, port);
    }
    std::vector<tcp::acceptor> held;  // all open at once, so that each port differs
    const auto any = [&] {
        held.emplace_back(context, tcp::endpoint(boost::asio::ip::make_address(kHost), 0));
        return held.back().local_endpoint().port();
    };
    origin_port_ = usual ? kUsualOriginPort : 0;
    for (std::size_t i = 0; i < members_.size(); ++i) {
        members_[i].proxy = {kHost, usual ? kUsualPorts[i].proxy : any()};
        members_[i].link = {kHost, usual ? kUsualPorts[i].link : any()};
        members_[i].admin = {kHost, usual ? kUsualPorts[i].admin : any()};
    }
}

void DemoCluster::configure(std::uint16_t origin_port) {
    const auto key = random_key();
    for (const auto& member : members_) {
        auto config = config_of(member, members_, origin_port, key);
        if (disk_bytes_)
            config["cache"]["disk"] = {{"path", fmt::format("{}/{}", directory_, member.name)},
                                       {"size", *disk_bytes_}};
        std::ofstream(member.config) << config.dump(2) << '\n';
    }
}

void DemoCluster::start() {
    for (auto& member : members_)
        member.process = std::make_unique<ChildProcess>(
            std::vector<std::string>{own_executable(), "run", "--config", member.config},
            member.log);
}

void DemoCluster::kill() {
    for (auto& member : members_) member.process->kill();
    for (auto& member : members_) member.process->wait();
}

void DemoCluster::wait_until_in_step(const std::function<bool()>& interrupted, Progress& progress) {
    const auto abort = [&]() -> std::string {
        if (interrupted()) return "interrupted";
        for (auto& member : members_) {
            if (const auto end = member.process->ended())
                return fmt::format("proxy {} ended at once ({}):\n{}", member.name, *end,
                                   last_lines_of(member));
        }
        return {};
    };
    const auto missing = wait_until_in_sync(admins(), kStartWithin, progress, abort);
    if (!missing.empty()) throw std::runtime_error("the cluster did not come up: " + missing);
    if (interrupted()) throw std::runtime_error("interrupted");
}

void DemoCluster::terminate() {
    for (auto& member : members_) member.process->terminate();
}

std::vector<HostPort> DemoCluster::proxies() const {
    std::vector<HostPort> out;
    for (const auto& member : members_) out.push_back(member.proxy);
    return out;
}
std::vector<HostPort> DemoCluster::admins() const {
    std::vector<HostPort> out;
    for (const auto& member : members_) out.push_back(member.admin);
    return out;
}

std::string last_lines_of(const Member& member) {
    std::ifstream in(member.log);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) {
        lines.push_back("  " + line);
        if (lines.size() > kLogLinesShown) lines.erase(lines.begin());
    }
    return fmt::format("{}", fmt::join(lines, "\n"));
}

}  // namespace measure
