#include "proxy/telemetry/error_sink.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <spdlog/pattern_formatter.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

#include "base/text/json_string.hpp"
#include "proxy/http/http_date.hpp"

namespace proxy {
namespace {

bool is_regular(int descriptor) {
    struct stat what {};
    return ::fstat(descriptor, &what) == 0 && S_ISREG(what.st_mode);
}

class JsonErrorFormatter final : public spdlog::formatter {
public:
    void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override {
        const auto second = std::chrono::floor<std::chrono::seconds>(message.time);
        const auto part = std::chrono::floor<std::chrono::milliseconds>(message.time - second);
        const auto level = std::min(message.level, spdlog::level::err);
        line_ = rfc3339(second);
        line_.pop_back();  // the Z
        line_ = fmt::format(R"({{"ts":"{}.{:03}Z","level":"{}","text":)", line_, part.count(),
                            kLogLevelNames.at(static_cast<std::size_t>(level)));
        base::append_json_string(line_, {message.payload.data(), message.payload.size()});
        line_.append("}\n");
        out.append(line_.data(), line_.data() + line_.size());
    }
    std::unique_ptr<spdlog::formatter> clone() const override {
        return std::make_unique<JsonErrorFormatter>();
    }

private:
    std::string line_;  // reuses its memory
};

}  // namespace

std::unique_ptr<spdlog::formatter> make_error_formatter(ErrorFormat format) {
    if (format == ErrorFormat::json) return std::make_unique<JsonErrorFormatter>();
    return std::make_unique<spdlog::pattern_formatter>();
}

ErrorSink::ErrorSink(std::shared_ptr<spdlog::sinks::sink> to, int descriptor)
    : to_(std::move(to)), descriptor_(descriptor), may_block_(!is_regular(descriptor)) {}

/// A ready pipe takes at least a page, and lines are shorter.
bool ErrorSink::takes() const {
    if (!may_block_) return true;
    pollfd ready{descriptor_, POLLOUT, 0};
    return ::poll(&ready, 1, left_out_ == 0 ? kPatienceMs : 0) != 0;
}

void ErrorSink::log(const spdlog::details::log_msg& message) {
    const std::lock_guard lock(mutex_);
    if (!takes()) {
        ++left_out_;
        return;
    }
    if (const auto lost = std::exchange(left_out_, 0); lost > 0) {
        const auto text = std::to_string(lost) + " lines are missing here, as nobody read this log";
        to_->log({message.logger_name, spdlog::level::warn, text});
    }
    to_->log(message);
}

void ErrorSink::flush() {
    const std::lock_guard lock(mutex_);
    if (takes()) to_->flush();
}

void ErrorSink::set_pattern(const std::string& pattern) {
    to_->set_pattern(pattern);
}

void ErrorSink::set_formatter(std::unique_ptr<spdlog::formatter> formatter) {
    to_->set_formatter(std::move(formatter));
}

}  // namespace proxy
