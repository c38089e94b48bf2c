#include "proxy/upstream/part_responses.hpp"

#include <utility>

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
                         Time now) {
    auto name = trouble == PartTrouble::other_version ? name_of_folder(place, uri)
                                                      : name_of_path(place, uri);
    const std::lock_guard lock(mutex_);
    auto known = by_name_.find(name);
    if (known == by_name_.end()) {
        noted_.push_front({name, {}});
        known = by_name_.emplace(std::move(name), noted_.begin()).first;
    } else {
        noted_.splice(noted_.begin(), noted_, known->second);
    }
    auto& noted = *known->second;
    const auto again = noted.until > now;
    const auto was_sure = again && noted.sure;
    noted.sure = again || trouble != PartTrouble::other_version;
    noted.until = now + kRemembered;
    const auto is_new = noted.sure && !was_sure;
    if (noted_.size() > kMost) {
        by_name_.erase(noted_.back().name);
        noted_.pop_back();
    }
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
    const auto known = by_name_.find(name);
    return known != by_name_.end() && known->second->sure && now < known->second->until;
}

}  // namespace proxy
