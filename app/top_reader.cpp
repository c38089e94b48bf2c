#include "app/top_reader.hpp"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include "app/top_faults.hpp"
#include "measure/run/http_get.hpp"

namespace app {

TopReading read_top(const AdminPort& port, std::chrono::milliseconds timeout,
                    std::string_view hint) {
    const auto where = port.at.text();
    const auto nodes = measure::http_get(port.at, "/api/v1/nodes", timeout, port.token);
    if (!nodes)
        return {{},
                fmt::format("no node answers at http://{}: {}{}", where, nodes.error().message(),
                            hint)};
    if (nodes->status != 200)
        return {{},
                fmt::format("http://{}: status {}: {}{}", where, nodes->status, first_line(*nodes),
                            token_hint(*nodes, port))};
    TopReading out;
    out.data = read_top_nodes(nodes->body, out.why);
    if (!out.data) {
        out.why = fmt::format("http://{}: {}", where, out.why);
        return out;
    }
    const auto status = measure::http_get(port.at, "/api/v1/status", timeout, port.token);
    if (status && status->status == 200) read_top_status(status->body, *out.data);
    const auto history =
        measure::http_get(port.at, "/api/v1/history?span=15m", timeout, port.token);
    if (history && history->status == 200) read_top_history(history->body, *out.data);
    const auto urls = measure::http_get(port.at, "/api/v1/top", timeout, port.token);
    read_top_urls(urls ? urls->status : 0, urls ? urls->body : std::string(), *out.data);
    return out;
}

TopReader::TopReader(AdminPort port)
    : port_(std::move(port)), event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (event_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
    try {
        thread_ = std::thread([this] { run(); });
    } catch (...) {
        ::close(event_);
        throw;
    }
}

TopReader::~TopReader() {
    {
        const std::lock_guard lock(mutex_);
        ends_ = true;
    }
    wake_.notify_one();
    thread_.join();
    ::close(event_);
}

std::optional<TopReading> TopReader::take() {
    std::uint64_t count = 0;
    (void)!::read(event_, &count, sizeof count);
    const std::lock_guard lock(mutex_);
    return std::exchange(latest_, std::nullopt);
}

void TopReader::run() {
    std::unique_lock lock(mutex_);
    while (!ends_) {
        lock.unlock();
        auto reading = read_top(port_, kTimeout, {});
        lock.lock();
        latest_ = std::move(reading);
        const std::uint64_t one = 1;
        (void)!::write(event_, &one, sizeof one);
        wake_.wait_for(lock, kPause, [this] { return ends_; });
    }
}

}  // namespace app
