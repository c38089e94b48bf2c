#pragma once

#include <boost/asio/buffer.hpp>
#include <string>
#include <vector>

namespace proxy::test {

inline std::string text_of(const std::vector<boost::asio::const_buffer>& buffers) {
    std::string text;
    for (const auto& buffer : buffers)
        text.append(static_cast<const char*>(buffer.data()), buffer.size());
    return text;
}

}  // namespace proxy::test
