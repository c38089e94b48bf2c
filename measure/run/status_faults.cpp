#include "measure/run/status_faults.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "measure/run/json_members.hpp"

namespace measure {
namespace {

using StatusPage = nlohmann::json;

struct ServerGroup {
    std::string name;
    std::size_t servers = 0;
    std::vector<std::string> down;
};

/// In the order of the page.
std::vector<ServerGroup> groups_of(const StatusPage& servers) {
    std::vector<ServerGroup> groups;
    for (const auto& server : servers) {
        const auto name = text_at(server, "group");
        auto at = std::ranges::find(groups, name, &ServerGroup::name);
        if (at == groups.end()) at = groups.insert(at, {name, 0, {}});
        ++at->servers;
        if (text_at(server, "state") == "down") at->down.push_back(text_at(server, "server"));
    }
    return groups;
}

std::string none_up_text(const ServerGroup& group) {
    if (group.servers == 1)
        return "the only server of " + group.name + ", " + group.down.front() + ", is down";
    auto text = "no server of " + group.name + " is up: " + group.down.front();
    for (std::size_t i = 1; i < group.down.size(); ++i) text += ", " + group.down[i];
    return text;
}

}  // namespace

std::vector<std::string> server_faults(const StatusPage& status) {
    std::vector<std::string> worst, others;
    for (const auto& group : groups_of(member(status, "upstreams"))) {
        if (group.down.size() == group.servers)
            worst.push_back(none_up_text(group));
        else
            for (const auto& server : group.down)
                others.push_back("the server " + server + " of " + group.name + " is down");
    }
    worst.insert(worst.end(), others.begin(), others.end());
    return worst;
}

std::vector<std::string> blocklist_faults(const StatusPage& status) {
    std::vector<std::string> faults;
    for (const auto& list : member(member(status, "blocklists"), "lists"))
        if (const auto why = text_at(list, "fault"); !why.empty())
            faults.push_back("a blocklist was not renewed, so its former state counts: " + why);
    return faults;
}

std::vector<std::string> certificate_faults(const StatusPage& status) {
    std::vector<std::string> faults;
    for (const auto& each : member(member(status, "tls"), "certificates")) {
        const auto& left = member(each, "expiry_seconds");
        if (left.is_number() && left.get<double>() < 0)
            faults.push_back("the certificate " + text_at(each, "file") + " has expired");
    }
    return faults;
}

}  // namespace measure
