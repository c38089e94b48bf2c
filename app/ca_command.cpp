#include "app/ca_command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <filesystem>
#include <stdexcept>

#include "app/command_line.hpp"
#include "app/fail.hpp"
#include "app/new_file.hpp"
#include "measure/trace/printable.hpp"
#include "proxy/http/http_date.hpp"
#include "proxy/http/wall_clock.hpp"
#include "proxy/tls/new_authority.hpp"

namespace app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCaFooter =
    R"(The CA is for forward.intercept. It writes ca.pem, which clients have to trust, and ca-key.pem, which
only the node may read. X.509 name constraints permit the hosts and all names below them, and no
address, so a stolen key can pose as no other site. *.crates.io and .crates.io mean crates.io here,
because TLS libraries disagree about the leading dot.

  hearsay ca create --host pypi.org --host files.pythonhosted.org --host .crates.io /etc/hearsay/ca

Exit codes: 0; 1 if a file exists already or cannot be written; 2 usage.)";

constexpr auto kNextSteps = R"(
Only these hosts, and names below them, can get a certificate from this CA: {}
It expires on {}.

Tell the node about it, and check:

  "forward": {{ "enabled": true, "intercept": {{ "hosts": [...], "ca": {{ "certificate": "{}", "key": "{}" }} }} }}

Then make the clients trust {}: docs/howto/intercept.md has the way for each of them. The node
alone needs the key. Whoever else gets it can pose as these hosts to your clients.
)";

/// Options of `hearsay ca`.
struct CaCommand {
    std::string action;              // create
    std::vector<std::string> hosts;  // that the CA may sign for
    std::string folder;
    std::string name = "hearsay interception CA";
    unsigned days = 825;
};

void check_options(const CaCommand& command) {
    if (command.folder.empty()) throw std::invalid_argument("ca create needs a DIR");
    if (command.hosts.empty())
        throw std::invalid_argument(
            "ca create needs a --host that the CA may sign for, such as --host pypi.org");
    if (command.name.empty() || command.name.size() > proxy::kMaxCommonName)
        throw std::invalid_argument(
            fmt::format("--name needs 1 to {} bytes", proxy::kMaxCommonName));
}

int ca_command(const CaCommand& command) {
    return reported([&] {
        check_options(command);
        proxy::AuthorityOrder order;
        order.hosts = command.hosts;
        order.name = command.name;
        order.days = std::chrono::days(command.days);
        const auto made = proxy::make_authority(order, proxy::wall_now());
        const fs::path folder = command.folder;
        const auto certificate = folder / "ca.pem", key = folder / "ca-key.pem";
        for (const auto& file : {certificate, key})
            if (fs::exists(file))
                return fail(kFailed, "{} exists already", measure::printable(file.string()));
        if (!fs::exists(folder)) {
            fs::create_directories(folder);
            fs::permissions(folder, fs::perms::owner_all);
        }
        write_new(key, made.key, 0600);
        write_new(certificate, made.certificate, 0644);
        const auto shown = [](const fs::path& file) {
            return measure::printable(fs::absolute(file).lexically_normal().string());
        };
        fmt::print("{}: the certificate of the CA, for clients\n", shown(certificate));
        fmt::print("{}: its key, which only the node may read\n", shown(key));
        fmt::print(kNextSteps, fmt::join(made.permitted, ", "), proxy::rfc3339(made.not_after),
                   shown(certificate), shown(key), shown(certificate));
        return kOk;
    });
}

}  // namespace

Command add_ca(CLI::App& app) {
    constexpr unsigned kMaxDays = 36'500;
    auto& command = *app.add_subcommand(
        "ca", "Makes a CA that can sign for the hosts of forward.intercept alone");
    const auto ca = std::make_shared<CaCommand>();
    command.footer(kCaFooter);
    option(command, "action", "create", ca->action, "Makes a new CA")
        ->required()
        ->check(CLI::IsMember({"create"}).description(""));
    option(command, "folder", "DIR", ca->folder, "Folder of the two files; created if missing");
    option(command, "--host", "HOST", ca->hosts,
           "Host with all names below it; any number of times")
        ->allow_extra_args(false);
    option(command, "--days", "N", ca->days, "Days until it expires")
        ->capture_default_str()
        ->check(within(1u, kMaxDays));
    option(command, "--name", "TEXT", ca->name, "Its name in the lists of clients")
        ->capture_default_str();
    return {&command, [ca] { return ca_command(*ca); }};
}

}  // namespace app
