#pragma once

#include "proxy/request/transaction.hpp"

namespace proxy {

/// Begins the trace of the request, whose head has been parsed. A peer that proves itself, and a
/// client of `tracing.trusted`, state the parent. Precondition: `tracing` is set.
void begin_trace(Transaction& transaction);

}  // namespace proxy
