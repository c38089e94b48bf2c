#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "app/admin_port.hpp"
#include "app/top_data.hpp"

namespace app {

/// One reading of the admin port: the numbers, or the reason why there are none.
struct TopReading {
    std::optional<TopData> data;
    std::string why;
};

/// Asks the admin port for nodes, history and URLs. Blocks for three times `timeout` at most.
/// `hint`: the advice for the user about a silent node. Any thread.
TopReading read_top(const AdminPort& port, std::chrono::milliseconds timeout,
                    std::string_view hint);

/// A thread that reads once a second, so that keys have their effect while a node is silent. Its
/// descriptor is readable while a reading waits. All members: one thread.
class TopReader {
public:
    static constexpr std::chrono::seconds kPause{1};
    static constexpr std::chrono::seconds kTimeout{2};

    /// Throws std::system_error without descriptors or threads.
    explicit TopReader(AdminPort port);
    /// Waits for a request under way.
    ~TopReader();
    TopReader(const TopReader&) = delete;
    TopReader& operator=(const TopReader&) = delete;

    int descriptor() const { return event_; }
    /// The latest reading since the last call, or nothing.
    std::optional<TopReading> take();

private:
    void run();

    const AdminPort port_;
    int event_;
    std::mutex mutex_;
    std::condition_variable wake_;
    bool ends_ = false;  // under mutex_, as the next
    std::optional<TopReading> latest_;
    std::thread thread_;
};

}  // namespace app
