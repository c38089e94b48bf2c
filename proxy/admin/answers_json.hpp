#pragma once

#include <nlohmann/json.hpp>

#include "proxy/telemetry/origin_answers.hpp"

namespace proxy {

inline nlohmann::ordered_json answers_json(const OriginAnswerCounts& counts) {
    return {{"answers", counts.answers},
            {"server_errors", counts.server_errors},
            {"too_many_requests", counts.too_many}};
}

}  // namespace proxy
