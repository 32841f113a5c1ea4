// Includes a header for each row of a list, so that a new row needs no #include anywhere:
//
//   #define K8S_SD_EACH_ROW K8S_SD_KINDS                  // the list: a macro that takes a macro
//   #define K8S_SD_EACH_FOLDER k8s_sd/detail/kinds
//   #include "k8s_sd/detail/base/include_each.hpp"        // k8s_sd/detail/kinds/node.hpp, ...
//
// A header is named after the first argument of its row. A macro cannot expand to an #include
// directive, but to its operand: here the n-th row's path. The headers must not include this file.

#ifdef K8S_SD_EACH_ROW

#include <boost/preprocessor/seq/elem.hpp>
#include <boost/preprocessor/stringize.hpp>

#define K8S_SD_EACH_ONE_MORE(...) +1
#define K8S_SD_EACH_NAME(name, ...) (name)
#define K8S_SD_EACH_COUNT (0 K8S_SD_EACH_ROW(K8S_SD_EACH_ONE_MORE))
// clang-format off
#define K8S_SD_EACH_PATH(n) \
    K8S_SD_EACH_FOLDER/BOOST_PP_SEQ_ELEM(n, K8S_SD_EACH_ROW(K8S_SD_EACH_NAME)).hpp
// clang-format on
#define K8S_SD_EACH_HEADER(n) BOOST_PP_STRINGIZE(K8S_SD_EACH_PATH(n))

#if K8S_SD_EACH_COUNT > 0
#include K8S_SD_EACH_HEADER(0)
#endif
#if K8S_SD_EACH_COUNT > 1
#include K8S_SD_EACH_HEADER(1)
#endif
#if K8S_SD_EACH_COUNT > 2
#include K8S_SD_EACH_HEADER(2)
#endif
#if K8S_SD_EACH_COUNT > 3
#include K8S_SD_EACH_HEADER(3)
#endif
#if K8S_SD_EACH_COUNT > 4
#include K8S_SD_EACH_HEADER(4)
#endif
#if K8S_SD_EACH_COUNT > 5
#include K8S_SD_EACH_HEADER(5)
#endif
#if K8S_SD_EACH_COUNT > 6
#include K8S_SD_EACH_HEADER(6)
#endif
#if K8S_SD_EACH_COUNT > 7
#include K8S_SD_EACH_HEADER(7)
#endif
#if K8S_SD_EACH_COUNT > 8
#include K8S_SD_EACH_HEADER(8)
#endif
#if K8S_SD_EACH_COUNT > 9
#include K8S_SD_EACH_HEADER(9)
#endif
#if K8S_SD_EACH_COUNT > 10
#include K8S_SD_EACH_HEADER(10)
#endif
#if K8S_SD_EACH_COUNT > 11
#include K8S_SD_EACH_HEADER(11)
#endif
#if K8S_SD_EACH_COUNT > 12
#include K8S_SD_EACH_HEADER(12)
#endif
#if K8S_SD_EACH_COUNT > 13
#include K8S_SD_EACH_HEADER(13)
#endif
#if K8S_SD_EACH_COUNT > 14
#include K8S_SD_EACH_HEADER(14)
#endif
#if K8S_SD_EACH_COUNT > 15
#include K8S_SD_EACH_HEADER(15)
#endif
#if K8S_SD_EACH_COUNT > 16
#include K8S_SD_EACH_HEADER(16)
#endif
#if K8S_SD_EACH_COUNT > 17
#include K8S_SD_EACH_HEADER(17)
#endif
#if K8S_SD_EACH_COUNT > 18
#include K8S_SD_EACH_HEADER(18)
#endif
#if K8S_SD_EACH_COUNT > 19
#include K8S_SD_EACH_HEADER(19)
#endif
#if K8S_SD_EACH_COUNT > 20
#include K8S_SD_EACH_HEADER(20)
#endif
#if K8S_SD_EACH_COUNT > 21
#include K8S_SD_EACH_HEADER(21)
#endif
#if K8S_SD_EACH_COUNT > 22
#include K8S_SD_EACH_HEADER(22)
#endif
#if K8S_SD_EACH_COUNT > 23
#include K8S_SD_EACH_HEADER(23)
#endif
#if K8S_SD_EACH_COUNT > 24
#error "k8s_sd: more rows than include_each.hpp goes through; add lines above"
#endif

#undef K8S_SD_EACH_HEADER
#undef K8S_SD_EACH_PATH
#undef K8S_SD_EACH_COUNT
#undef K8S_SD_EACH_NAME
#undef K8S_SD_EACH_ONE_MORE
#undef K8S_SD_EACH_FOLDER
#undef K8S_SD_EACH_ROW

#endif
