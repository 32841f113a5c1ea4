// Bodies from a hostile server: the first byte chooses the kind, list or watch and the chunks.
//
//   build/fuzz/tests/fuzz/k8s_sd_fuzz_json_decoder -max_total_time=60 tests/data/decoder

#include "k8s_sd/detail/codec/list_watch_reader.hpp"
#include "k8s_sd/detail/kinds/object_maker.hpp"
#include "k8s_sd/detail/kinds/schema.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

using namespace k8s_sd;

class Sink final : public detail::EventSink {
    void on_object(detail::EventType, const detail::DecodedObject& object) override {
        (void)maker_.make(object)->labels();
    }
    void on_bookmark(std::string_view) override {}
    void on_error_event(const detail::ServerStatus&) override {}
    void on_bad_object(std::string_view, std::string_view, std::string_view, error_code,
                       std::string_view) override {}

    detail::ObjectMaker maker_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const unsigned choice = data[0];
    std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
    Sink sink;
    const auto kind = static_cast<Kind>(choice % kind_count);
    detail::ListWatchReader reader(detail::schema_of(kind), 4096, sink);
    reader.expect((choice & 128U) != 0 ? detail::Document::list : detail::Document::watch);
    reader.choose_decoder("application/json");
    const std::size_t chunk = (choice & 64U) != 0 ? 1 : 97;
    while (!bytes.empty() && !reader.feed(bytes.substr(0, std::min(chunk, bytes.size())))) {
        bytes.remove_prefix(std::min(chunk, bytes.size()));
    }
    (void)reader.finish();
    return 0;
}
