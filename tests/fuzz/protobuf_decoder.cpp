// Bodies from a hostile server: the first byte chooses the kind, list, watch or error, and the
// chunks. The result does not depend on the chunks.
//
//   build/fuzz/tests/fuzz/k8s_sd_fuzz_protobuf_decoder -max_total_time=60 tests/data/protobuf

#include "fuzz/checking_sink.hpp"
#include "k8s_sd/detail/codec/list_watch_reader.hpp"
#include "k8s_sd/detail/kinds/schema.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>

using namespace k8s_sd;
using namespace k8s_sd::test;

namespace {

auto read(Kind kind, detail::Document document, std::string_view rest, std::size_t chunk) {
    CheckingSink sink;
    detail::ListWatchReader reader(detail::schema_of(kind), 4096, sink);
    reader.expect(document);
    require(reader.choose_decoder("application/vnd.kubernetes.protobuf"));
    error_code ec;
    while (!rest.empty() && !ec) {
        ec = reader.feed(rest.substr(0, chunk));
        rest.remove_prefix(std::min(chunk, rest.size()));
    }
    if (!ec) ec = reader.finish();
    require(!ec == reader.problem().empty());
    return std::tuple(ec.value(), sink.counts());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const unsigned choice = data[0];
    const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
    if ((choice & 32U) != 0) {
        const auto status = detail::read_protobuf_status(bytes);
        if (status) check(*status);
        return 0;
    }
    const auto kind = static_cast<Kind>((choice & 31U) % kind_count);
    if (detail::schema_of(kind).json_only) return 0;
    const auto document = (choice & 128U) != 0 ? detail::Document::list : detail::Document::watch;
    require(read(kind, document, bytes, size) ==
            read(kind, document, bytes, (choice & 64U) != 0 ? 1 : 97));
    return 0;
}
