// Bodies from a hostile server: the first byte chooses the kind, list, watch or error, and the
// chunks. The result does not depend on the chunks.
//
//   build/fuzz/tests/fuzz/k8s_sd_fuzz_protobuf_decoder -max_total_time=60 tests/data/protobuf

#include "k8s_sd/detail/codec/event.hpp"
#include "k8s_sd/detail/codec/list_watch_reader.hpp"
#include "k8s_sd/detail/kinds/object_maker.hpp"
#include "k8s_sd/detail/kinds/schema.hpp"
#include "k8s_sd/detail/text/utf8.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <tuple>

namespace {

using namespace k8s_sd;

void require(bool condition) {
    if (!condition) std::abort();
}

void check(const detail::ServerStatus& status) {
    require(detail::is_utf8(status.message) && detail::is_utf8(status.reason));
    for (const auto& cause : status.causes)
        require(detail::is_utf8(cause.message) && detail::is_utf8(cause.reason));
}

class Sink final : public detail::EventSink {
 public:
    /// The number of calls of each kind.
    std::tuple<int, int, int, int> counts() const { return {objects_, bookmarks_, errors_, bad_}; }

 private:
    void on_object(detail::EventType, const detail::DecodedObject& object) override {
        ++objects_;
        require(detail::is_utf8(object.meta.name) && detail::is_utf8(object.meta.namespace_));
        for (const auto& [key, value] : object.meta.labels)
            require(detail::is_utf8(key) && detail::is_utf8(value));
        (void)maker_.make(object)->labels();
    }
    void on_bookmark(std::string_view version, bool) override {
        ++bookmarks_;
        require(version.size() <= 1024);
    }
    void on_error_event(const detail::ServerStatus& status) override {
        ++errors_;
        check(status);
    }
    void on_bad_object(const detail::BadObject& bad) override {
        ++bad_;
        require(bad.resource_version.size() <= 1024 && bad.problem.size() < 1000);
    }

    detail::ObjectMaker maker_;
    int objects_ = 0, bookmarks_ = 0, errors_ = 0, bad_ = 0;
};

auto read(Kind kind, detail::Document document, std::string_view rest, std::size_t chunk) {
    Sink sink;
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
