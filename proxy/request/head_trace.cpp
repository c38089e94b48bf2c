#include "proxy/request/head_trace.hpp"

#include <optional>

#include "proxy/http/field_list.hpp"

namespace proxy {

void HeadTrace::take(std::vector<Field>& head, bool trusted, double sample_ratio,
                     SpanQueue& spans) {
    const auto received = trusted ? received_trace(head) : std::nullopt;
    trace_ = begin_trace(received, sample_ratio, spans);
    states_.clear();
    std::erase_if(head, [&](const Field& line) {
        static_assert(kTracestate.size() < kTraceparent.size());
        if (line.name.size() > kTraceparent.size() || line.name.size() < kTracestate.size())
            return false;
        const auto is_state = iequals(line.name, kTracestate);
        if (is_state && received) states_.push_back(line.value);
        return is_state || iequals(line.name, kTraceparent);
    });
}

void HeadTrace::give(RequestSnapshot& to) const {
    to.trace = trace_;
    for (const auto value : states_)
        to.trace_lines.append(kTracestate).append(": ").append(value).append("\r\n");
}

}  // namespace proxy
