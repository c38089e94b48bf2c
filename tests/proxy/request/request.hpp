#pragma once

#include <gtest/gtest.h>

#include <boost/beast/http/field.hpp>
#include <boost/beast/http/verb.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/http/cache_key.hpp"
#include "proxy/http/message_parser.hpp"

namespace proxy::test {

/// A request's head as a parser leaves it. Views its arguments.
inline proxy::Head request_head(std::string_view method, std::string_view target,
                                std::vector<Field> fields) {
    proxy::Head head;
    head.method = method;
    head.verb = boost::beast::http::string_to_verb({method.data(), method.size()});
    head.target = target;
    head.fields = std::move(fields);
    return head;
}

inline Field line(std::string_view name, std::string_view value) {
    return {boost::beast::http::string_to_field({name.data(), name.size()}), name, value};
}

/// The key of a GET.
inline CacheKey key_of(std::string_view target, std::string_view host = "h.test") {
    CacheKey key;
    EXPECT_EQ(key.assign(Scheme::http, boost::beast::http::verb::get, target, host),
              TargetError::none);
    return key;
}

}  // namespace proxy::test
