#include "proxy/request/departure.hpp"

#include <poll.h>

namespace proxy {

Departure::Line look_at_line(int socket) {
    pollfd line{socket, POLLRDHUP, 0};
    if (::poll(&line, 1, 0) <= 0) return Departure::Line::open;
    if ((line.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) return Departure::Line::broken;
    return Departure::Line::half_closed;
}

}  // namespace proxy
