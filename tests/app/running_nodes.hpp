#pragma once

#include <unistd.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "proxy/config/parse_config.hpp"
#include "proxy/node/node.hpp"

namespace app {

/// A loopback address that only this test process uses (all of 127/8 is loopback).
inline std::string own_address(unsigned number) {
    const auto pid = static_cast<unsigned>(::getpid());
    return "127." + std::to_string(192 + (pid >> 8) % 60) + '.' + std::to_string(pid & 255) + '.' +
           std::to_string(number);
}

inline const std::string kTestKey = "the cluster key of the tests, 32 bytes+";

/// A node that runs with this configuration until the end of the test. `file`: the file that a
/// reload reads.
inline std::unique_ptr<proxy::Node> run_by(const std::string& json, const std::string& file = {}) {
    auto read = proxy::parse_config(json);
    if (!read.config) throw std::runtime_error(proxy::describe(read.errors));
    auto node = std::make_unique<proxy::Node>(std::move(*read.config), file);
    node->start();
    return node;
}

/// The configuration of a forward proxy; `more`: further members.
inline std::string configuration(const std::string& name, unsigned number,
                                 const std::string& more = {}) {
    const auto at = own_address(number);
    return R"({"node": ")" + name + R"(", "workers": 1, "listen": ")" + at +
           R"(:3128", "admin": {"listen": ")" + at +
           R"(:9128"}, "forward": {"enabled": true}, "log": {"access": "off", "level": "error"})" +
           (more.empty() ? "" : ", ") + more + "}";
}

/// The cluster section of the node `number`, which has one peer.
inline std::string cluster_part(unsigned number, const std::string& peer, unsigned peer_number,
                                const std::string& key = kTestKey, unsigned http = 3128,
                                unsigned link = 3129) {
    const auto there = own_address(peer_number);
    return R"("cluster": {"key": ")" + key + R"(", "listen": ")" + own_address(number) +
           R"(:3129", "peers": [{"node": ")" + peer + R"(", "http": ")" + there + ":" +
           std::to_string(http) + R"(", "link": ")" + there + ":" + std::to_string(link) +
           R"("}]})";
}

}  // namespace app
