#include "measure/simulate/make_eviction_order.hpp"

#include "measure/simulate/gdsf_order.hpp"
#include "measure/simulate/lru_order.hpp"
#include "measure/simulate/s3_fifo_order.hpp"
#include "measure/simulate/sieve_order.hpp"
#include "measure/simulate/w_tiny_lfu_order.hpp"

namespace measure {

std::unique_ptr<EvictionOrder> make_eviction_order(Replacement replacement,
                                                   const Objects& objects) {
    switch (replacement) {
        case Replacement::s3_fifo:
            return std::make_unique<S3FifoOrder>(objects, proxy::Favour::bytes);
        case Replacement::by_value:
            return std::make_unique<S3FifoOrder>(objects, proxy::Favour::requests);
        case Replacement::sieve:
            return std::make_unique<SieveOrder>();
        case Replacement::w_tiny_lfu:
            return std::make_unique<WTinyLfuOrder>(objects);
        case Replacement::gdsf:
            return std::make_unique<GdsfOrder>(objects);
        case Replacement::lru:
            break;
    }
    return std::make_unique<LruOrder>();
}

}  // namespace measure
