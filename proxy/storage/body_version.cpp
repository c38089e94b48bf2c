#include "proxy/storage/body_version.hpp"

#include <algorithm>
#include <ranges>

#include "proxy/http/field_list.hpp"
#include "proxy/http/hashed_fields.hpp"
#include "proxy/http/redirects.hpp"
#include "proxy/http/validators.hpp"
#include "proxy/http/vary.hpp"

namespace proxy {
namespace {

using boost::beast::http::field;

/// `test` of one of `names`, as vary_names() writes them.
template <typename Test>
bool any_name(std::string_view names, Test test) {
    return std::ranges::any_of(names | std::views::split(','), [&](const auto& name) {
        return test(std::string_view(name.begin(), name.end()));
    });
}

/// The languages that the request asked for, if the response depends on them and does not say in
/// which it is.
std::string_view unnamed_language(const StoredMetadata& response) {
    if (find(response.fields(), field::content_language)) return {};
    return value_in_variant(response.variant, response.vary_names, "accept-language");
}

}  // namespace

bool varies_by_client(std::string_view vary_names) {
    return any_name(vary_names, [](auto name) { return !sent_in_clear(name); });
}

BodyVersion version_of(const StoredMetadata& response, std::uint64_t length,
                       const summary::KeyHasher& hasher) {
    const auto fields = response.fields();
    auto text = std::to_string(length);
    if (response.server != 0) text.append(" ").append(std::to_string(response.server));
    for (const auto name : {field::content_encoding, field::content_language})
        for (const auto& line : fields)
            if (line.id == name)
                text.append("\n").append(boost::beast::http::to_string(name)).append(line.value);
    const auto by_client = varies_by_client(response.vary_names);
    if (by_client)
        text.append("\n").append(response.vary_names).append("\n").append(response.variant);
    else if (const auto language = unnamed_language(response); !language.empty())
        text.append("\naccept-language\n").append(language);
    const std::string source(source_of(fields));
    if (!source.empty()) text.append("\nsource\n").append(source);
    constexpr std::string_view kDigits = "0123456789abcdef";
    BodyVersion version{std::string(validators_of(fields).etag), std::string(kFormDigits, '0'),
                        response.server, source, by_client};
    auto hash = hasher(text).low;
    for (auto& digit : version.form) {
        digit = kDigits[hash >> 60];
        hash <<= 4;
    }
    return version;
}

}  // namespace proxy
