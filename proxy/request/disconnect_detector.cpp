#include "proxy/request/disconnect_detector.hpp"

#include <poll.h>

namespace proxy {

DisconnectDetector::Line look_at_line(int socket) {
    pollfd line{socket, POLLRDHUP, 0};
    if (::poll(&line, 1, 0) <= 0) return DisconnectDetector::Line::open;
    if ((line.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0)
        return DisconnectDetector::Line::broken;
    return DisconnectDetector::Line::half_closed;
}

}  // namespace proxy
