#include "proxy/upstream/part_responses.hpp"

#include <xxhash.h>

namespace proxy {

PartTrouble part_trouble(FetchError wrong, unsigned status) {
    switch (status) {
        case 200:
        case 206:
            return wrong == FetchError::changed ? PartTrouble::other_version : PartTrouble::none;
        case 401:
        case 403:
        case 404:
        case 410:
            return PartTrouble::refused;
        default:
            return wrong == FetchError::changed ? PartTrouble::not_a_part : PartTrouble::none;
    }
}

std::string_view to_string(PartTrouble trouble) {
    switch (trouble) {
        case PartTrouble::none:
            break;
        case PartTrouble::other_version:
            return "it has another version, or another ETag for the same";
        case PartTrouble::refused:
            return "it refuses to give more of what it has begun to give";
        case PartTrouble::not_a_part:
            return "its answer is not the part that was asked for";
    }
    return "nothing is wrong";
}

std::string PartResponses::name_of_path(std::string_view place, std::string_view uri) {
    uri = uri.substr(0, uri.find_first_of("?#"));
    std::string name(place);
    return name.append(" ").append(uri.substr(0, kLongestPath));
}

std::string PartResponses::name_of_folder(std::string_view place, std::string_view uri) {
    uri = uri.substr(0, uri.find_first_of("?#"));
    return name_of_path(place, uri.substr(0, uri.rfind('/') + 1));
}

bool PartResponses::note(std::string_view place, std::string_view uri, PartTrouble trouble,
                         std::string_view etag, Time now) {
    const auto name = trouble == PartTrouble::other_version ? name_of_folder(place, uri)
                                                            : name_of_path(place, uri);
    const std::lock_guard lock(mutex_);
    auto& noted = noted_.use(name);
    const auto again = noted.until > now;
    const auto was_sure = again && noted.sure;
    const auto version =
        XXH3_64bits_withSeed(uri.data(), uri.size(), XXH3_64bits(etag.data(), etag.size()));
    const auto is_same = again && noted.version == version;
    noted.sure = was_sure || (again && !is_same) || trouble != PartTrouble::other_version;
    noted.version = version;
    noted.until = now + kRemembered;
    const auto is_new = noted.sure && !was_sure;
    if (noted_.size() > kMost) noted_.drop_oldest();
    size_.store(noted_.size(), std::memory_order_relaxed);
    return is_new;
}

bool PartResponses::in_one_piece(std::string_view place, std::string_view uri, Time now) const {
    if (size() == 0) return false;
    const auto path = name_of_path(place, uri), folder = name_of_folder(place, uri);
    const std::lock_guard lock(mutex_);
    return is_sure(path, now) || is_sure(folder, now);
}

bool PartResponses::is_sure(const std::string& name, Time now) const {
    const auto* const noted = noted_.find(name);
    return noted && noted->sure && now < noted->until;
}

}  // namespace proxy
