// The one translation unit that compiles Beast's own sources (BOOST_BEAST_SEPARATE_COMPILATION).
#include <boost/beast/src.hpp>
