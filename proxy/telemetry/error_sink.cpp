#include "proxy/telemetry/error_sink.hpp"

#include <poll.h>
#include <spdlog/pattern_formatter.h>
#include <sys/stat.h>

#include <ctime>
#include <utility>

#include "base/text/amount.hpp"
#include "base/text/json_string.hpp"

namespace proxy {
namespace {

bool is_regular(int descriptor) {
    struct stat what {};
    return ::fstat(descriptor, &what) == 0 && S_ISREG(what.st_mode);
}

class JsonText final : public spdlog::custom_flag_formatter {
    void format(const spdlog::details::log_msg& message, const std::tm&,
                spdlog::memory_buf_t& out) override {
        std::string text;
        base::append_json_string(text, {message.payload.data(), message.payload.size()});
        out.append(text.data(), text.data() + text.size());
    }
    std::unique_ptr<spdlog::custom_flag_formatter> clone() const override {
        return std::make_unique<JsonText>();
    }
};

}  // namespace

std::unique_ptr<spdlog::formatter> make_error_formatter(ErrorFormat format) {
    if (format == ErrorFormat::text) return std::make_unique<spdlog::pattern_formatter>();
    auto json = std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::utc);
    json->add_flag<JsonText>('*').set_pattern(
        R"({"ts":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l","text":%*})");
    return json;
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
        const auto text = base::amount(lost, "line") + (lost == 1 ? " is" : " are") +
                          " missing here, as nobody read this log";
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
