#include "tests/cluster/client.hpp"

#include <cstdlib>

namespace proxy::test {

Answer read_head(std::string& input, const Receive& receive) {
    Answer answer;
    std::size_t end = 0;
    while ((end = input.find("\r\n\r\n")) == std::string::npos)
        if (!receive(input)) return answer;
    answer.head = input.substr(0, end + 2);
    input.erase(0, end + 4);
    if (answer.head.size() > 12)
        answer.status = static_cast<unsigned>(std::atoi(answer.head.c_str() + 9));
    return answer;
}

void read_body(Answer& answer, std::size_t bytes, std::string& input, const Receive& receive) {
    while (input.size() < bytes && receive(input)) continue;
    answer.complete = input.size() >= bytes;
    answer.body = input.substr(0, bytes);
    input.erase(0, bytes);
}

Answer read_sized(std::string& input, const Receive& receive) {
    auto answer = read_head(input, receive);
    const auto bytes = std::strtoull(answer.field("Content-Length").c_str(), nullptr, 10);
    if (!answer.head.empty()) read_body(answer, bytes, input, receive);
    return answer;
}

void Client::begin(std::string_view method, std::string_view target, std::string_view fields,
                   std::string_view body) {
    std::string text(method);
    text.append(" ").append(target).append(" HTTP/1.1\r\nHost: ").append(host).append("\r\n");
    text.append(fields);
    if (!body.empty())
        text.append("Content-Length: ").append(std::to_string(body.size())).append("\r\n");
    text.append("\r\n").append(body);
    socket.send(text);
}

Answer Client::ask(std::string_view method, std::string_view target, std::string_view fields,
                   std::string_view body) {
    begin(method, target, fields, body);
    return read(method == "HEAD");
}

bool Client::read_at_least(std::size_t body_bytes) {
    for (;;) {
        const auto end = input_.find("\r\n\r\n");
        if (end != std::string::npos && input_.size() - end - 4 >= body_bytes) return true;
        if (!socket.receive(input_)) return false;
    }
}

Answer Client::read(bool of_head_request) {
    const auto receive = [this](std::string& into) { return socket.receive(into); };
    auto answer = read_head(input_, receive);
    if (answer.head.empty()) return answer;
    if (of_head_request || answer.status < 200 || answer.status == 204 || answer.status == 304) {
        answer.complete = true;
        return answer;
    }
    if (const auto length = answer.field("Content-Length"); !length.empty()) {
        read_body(answer, std::strtoull(length.c_str(), nullptr, 10), input_, receive);
    } else if (!answer.field("Transfer-Encoding").empty()) {
        for (;;) {
            std::size_t line = 0;
            while ((line = input_.find("\r\n")) == std::string::npos)
                if (!socket.receive(input_)) return answer;
            const auto bytes = std::strtoull(input_.c_str(), nullptr, 16);
            while (input_.size() < line + 2 + bytes + 2)
                if (!socket.receive(input_)) return answer;
            answer.body.append(input_, line + 2, bytes);
            input_.erase(0, line + 2 + bytes + 2);
            if (bytes == 0) break;
        }
        answer.complete = true;
    } else {
        while (socket.receive(input_)) {
        }
        answer.complete = !socket.was_reset();
        answer.body.swap(input_);
        input_.clear();
    }
    return answer;
}

bool Client::at_end() {
    return input_.empty() && !socket.receive(input_) && !socket.was_reset();
}

}  // namespace proxy::test
