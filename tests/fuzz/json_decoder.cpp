// Bodies from a hostile server: the first byte chooses the kind, list, watch or error, and the
// chunks.
//
//   build/fuzz/tests/fuzz/k8s_sd_fuzz_json_decoder -max_total_time=60 tests/data/decoder

#include "fuzz/checking_sink.hpp"
#include "k8s_sd/detail/codec/list_watch_reader.hpp"
#include "k8s_sd/detail/kinds/schema.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

using namespace k8s_sd;
using namespace k8s_sd::test;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const unsigned choice = data[0];
    std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
    if ((choice & 32U) != 0) {
        const auto status = detail::read_json_status(bytes);
        if (status) check(*status);
        return 0;
    }
    CheckingSink sink;
    const auto kind = static_cast<Kind>(choice % kind_count);
    detail::ListWatchReader reader(detail::schema_of(kind), 4096, sink);
    const std::size_t chunk = (choice & 64U) != 0 ? 1 : 97;
    // In the second round the decoder knows the bodies refused by the parser.
    for (int round = 0; round < 2; ++round) {
        reader.expect((choice & 128U) != 0 ? detail::Document::list : detail::Document::watch);
        reader.choose_decoder("application/json");
        std::string_view rest = bytes;
        while (!rest.empty() && !reader.feed(rest.substr(0, std::min(chunk, rest.size())))) {
            rest.remove_prefix(std::min(chunk, rest.size()));
        }
        (void)reader.finish();
    }
    return 0;
}
