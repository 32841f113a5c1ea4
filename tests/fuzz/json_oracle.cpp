// Bodies that the library's JSON parser and Boost.JSON must read alike: the first byte chooses the
// kind, list or watch, and the pieces.
//
//   build/fuzz/tests/fuzz/k8s_sd_fuzz_json_oracle -max_total_time=60 tests/data/decoder

#include "support/json_oracle.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace k8s_sd;
    if (size == 0) return 0;
    const unsigned choice = data[0];
    const std::string_view body(reinterpret_cast<const char*>(data) + 1, size - 1);
    const auto kind = static_cast<Kind>(choice % kind_count);
    const auto document = (choice & 128U) != 0 ? detail::Document::list : detail::Document::watch;
    const std::size_t piece = (choice & 64U) != 0 ? 1 : 97;
    const std::string disagreement =
        test::json_disagreement(document, kind, body, piece, {.max_object_bytes = 4096});
    if (disagreement.empty()) return 0;
    std::puts(disagreement.c_str());
    std::abort();
}
