#include "base/text/plain_message.hpp"

#include <algorithm>
#include <boost/system/system_error.hpp>

namespace base {

std::string plain_message(const std::exception& error) {
    std::string text = error.what();
    const auto* system = dynamic_cast<const boost::system::system_error*>(&error);
    if (system != nullptr)
        text.erase(std::min(text.find(" [" + system->code().to_string()), text.size()));
    return text;
}

}  // namespace base
