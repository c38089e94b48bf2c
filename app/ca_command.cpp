#include "app/ca_command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <exception>
#include <filesystem>
#include <stdexcept>

#include "app/exit_codes.hpp"
#include "app/fail.hpp"
#include "app/new_file.hpp"
#include "measure/trace/printable.hpp"
#include "proxy/http/http_date.hpp"
#include "proxy/net/new_authority.hpp"
#include "proxy/net/wall_clock.hpp"

namespace app {
namespace {

namespace fs = std::filesystem;

constexpr auto kNextSteps = R"(
Only these hosts, and names below them, can get a certificate from this CA: {}
It expires on {}.

Tell the node about it, and check:

  "forward": {{ "enabled": true, "intercept": {{ "hosts": [...], "ca": {{ "certificate": "{}", "key": "{}" }} }} }}

Then make the clients trust {}: docs/howto/intercept.md has the way for each of them. The node
alone needs the key. Whoever else gets it can pose as these hosts to your clients.
)";

void check_options(const CaCommand& command) {
    if (command.folder.empty()) throw std::invalid_argument("ca create needs a DIR");
    if (command.hosts.empty())
        throw std::invalid_argument(
            "ca create needs a --host that the CA may sign for, such as --host pypi.org");
    if (command.name.empty() || command.name.size() > proxy::kMaxCommonName)
        throw std::invalid_argument(
            fmt::format("--name needs 1 to {} bytes", proxy::kMaxCommonName));
}

}  // namespace

int ca_command(const CaCommand& command) {
    try {
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
    } catch (const std::invalid_argument& error) {
        return fail(kUsage, "{}", error.what());
    } catch (const std::exception& error) {
        return fail(kFailed, "{}", error.what());
    }
}

}  // namespace app
