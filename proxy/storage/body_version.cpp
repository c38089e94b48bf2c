#include "proxy/storage/body_version.hpp"

#include <algorithm>
#include <ranges>

#include "proxy/http/hashed_fields.hpp"
#include "proxy/http/redirects.hpp"
#include "proxy/http/validators.hpp"

namespace proxy {
namespace {

using boost::beast::http::field;

/// `names` as vary_names() writes them.
bool negotiates_only(std::string_view names) {
    return std::ranges::all_of(names | std::views::split(','), [](const auto& name) {
        return sent_in_clear(std::string_view(name.begin(), name.end()));
    });
}

}  // namespace

BodyVersion version_of(const StoredMetadata& response, std::uint64_t length,
                       const summary::KeyHasher& hasher) {
    const auto fields = response.fields();
    auto text = std::to_string(length);
    if (response.server != 0) text.append(" ").append(std::to_string(response.server));
    for (const auto name : {field::content_encoding, field::content_language})
        for (const auto& line : fields)
            if (line.id == name)
                text.append("\n").append(boost::beast::http::to_string(name)).append(line.value);
    if (!negotiates_only(response.vary_names))
        text.append("\n").append(response.vary_names).append("\n").append(response.variant);
    const std::string source(source_of(fields));
    if (!source.empty()) text.append("\nsource\n").append(source);
    constexpr std::string_view kDigits = "0123456789abcdef";
    BodyVersion version{std::string(validators_of(fields).etag), std::string(kFormDigits, '0'),
                        response.server, source};
    auto hash = hasher(text).low;
    for (auto& digit : version.form) {
        digit = kDigits[hash >> 60];
        hash <<= 4;
    }
    return version;
}

}  // namespace proxy
