#include "base/async/error.hpp"

#include <string>

namespace base {
namespace {

struct Words {
    std::string_view name;
    const char* message;
};

constexpr Words words(Error error) noexcept {
    switch (error) {
        case Error::timed_out:
            return {"timed_out", "no answer in time"};
        case Error::resolve_timeout:
            return {"resolve_timeout", "name not resolved in time"};
        case Error::resolve_failed:
            return {"resolve_failed", "name has no address"};
        case Error::resolver_busy:
            return {"resolver_busy", "too many names are being resolved"};
        case Error::connect_timeout:
            return {"connect_timeout", "no connection in time"};
    }
    return {"unknown", "unknown error"};
}

// Boost's base class has a protected destructor that is not virtual; categories are never deleted.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"
class WaitCategory final : public boost::system::error_category {
public:
    const char* name() const noexcept override { return "hearsay.wait"; }
    std::string message(int code) const override { return words(static_cast<Error>(code)).message; }
};
#pragma GCC diagnostic pop

}  // namespace

const boost::system::error_category& error_category() noexcept {
    static const WaitCategory category;
    return category;
}

std::string_view name(Error error) noexcept {
    return words(error).name;
}

}  // namespace base
