#pragma once

#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace proxy::test {

/// Keeps the log lines. Made before the nodes and gone after them, whose threads write here.
class LogCapture {
protected:
    LogCapture() {
        auto logger = std::make_shared<spdlog::logger>("test", lines_);
        spdlog::set_default_logger(std::move(logger));
    }
    ~LogCapture() {
        spdlog::set_default_logger(before_);
        spdlog::set_level(spdlog::level::off);
    }

    /// Lines that hold this. Workers log before they answer.
    std::vector<std::string> logged(const std::string& part) const { return lines_->with(part); }

private:
    class Lines : public spdlog::sinks::base_sink<std::mutex> {
    public:
        std::vector<std::string> with(const std::string& part) {
            const std::lock_guard lock(mutex_);
            std::vector<std::string> found;
            for (const auto& line : lines_)
                if (line.find(part) != std::string::npos) found.push_back(line);
            return found;
        }

    private:
        void sink_it_(const spdlog::details::log_msg& message) override {
            lines_.emplace_back(message.payload.data(), message.payload.size());
        }
        void flush_() override {}

        std::vector<std::string> lines_;
    };

    std::shared_ptr<Lines> lines_ = std::make_shared<Lines>();
    std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
};

}  // namespace proxy::test
