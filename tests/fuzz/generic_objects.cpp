// Bodies with objects of any resource: the first byte chooses list or watch, and the size of the
// pieces. An accepted object equals Boost.JSON's reading of the same text.
//
//   cd build/fuzz/tests/fuzz && ./k8s_sd_fuzz_generic_objects -max_total_time=60

#include "k8s_sd/detail/codec/json/json_decoder.hpp"
#include "k8s_sd/detail/kinds/schema.hpp"
#include "k8s_sd/objects/generic.hpp"

#include <boost/json/parse.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace k8s_sd;

constexpr std::size_t max_object_bytes = 512;

void require(bool condition) {
    if (!condition) std::abort();
}

/// A decoder's reports about each object.
class Reports final : public detail::DocumentSink {
 public:
    explicit Reports(std::function<void(const detail::ObjectProblem&)> report)
        : report_(std::move(report)) {}
    error_code on_item(std::string_view, const detail::ObjectProblem& problem) override {
        report_(problem);
        return {};
    }
    error_code on_event(std::string_view, const detail::ObjectProblem& problem) override {
        report_(problem);
        return {};
    }

 private:
    std::function<void(const detail::ObjectProblem&)> report_;
};

void decode(const detail::JsonSchema& schema, detail::Scratch& scratch,
            std::function<void(const detail::ObjectProblem&)> report, detail::Document document,
            std::string_view bytes, std::size_t piece) {
    Reports reports(std::move(report));
    detail::JsonDecoder decoder(schema, scratch, max_object_bytes, reports);
    decoder.begin(document);
    while (!bytes.empty()) {
        if (decoder.feed(bytes.substr(0, piece))) return;
        bytes.remove_prefix(std::min(piece, bytes.size()));
    }
    (void)decoder.finish();
}

std::optional<std::string> captured;

detail::Projection capturing_node() {
    detail::Projection node{.type = detail::Projection::Type::raw};
    node.begin = [](void* around) { return around; };
    node.take_raw = [](void*, std::string_view json, std::size_t) {
        require(json.size() <= max_object_bytes);
        captured = json;
        return detail::RawProblem();
    };
    return node;
}

/// The texts of the objects, as captured from the whole body; nullopt without one.
std::vector<std::optional<std::string>> texts_in(detail::Document document, std::string_view body,
                                                 detail::Scratch& scratch) {
    static const detail::JsonSchema schema(capturing_node(), capturing_node());
    std::vector<std::optional<std::string>> texts;
    captured.reset();
    const auto note = [&](const auto&) {
        texts.push_back(std::exchange(captured, std::nullopt));
        scratch.clear();
    };
    decode(schema, scratch, note, document, body, std::max<std::size_t>(body.size(), 1));
    return texts;
}

void check(const Generic& object, const std::optional<std::string>& text) {
    if (!text) return require(object.content.empty());
    boost::json::parse_options options;
    options.max_depth = 1000;
    boost::system::error_code ec;
    const boost::json::value expected = boost::json::parse(*text, ec, {}, options);
    require(!ec && expected.is_object() && expected.get_object() == object.content);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    static const detail::KindSchema schema = detail::make_schema(
        other_kind({"Widget", "example.com", "v1", "widgets", true}), Fields::all());
    const std::string_view body(reinterpret_cast<const char*>(data) + 1, size - 1);
    const auto document = data[0] < 128 ? detail::Document::list : detail::Document::watch;
    const auto scratch = schema.make_scratch();
    const auto texts = texts_in(document, body, *scratch);
    std::size_t count = 0;
    const auto compare = [&](const detail::ObjectProblem& problem) {
        require(count < texts.size());
        const auto& text = texts[count++];
        if (problem.text.empty()) check(*static_cast<const Generic*>(scratch->model()), text);
        scratch->clear();
    };
    decode(schema.json, *scratch, compare, document, body, 1U + data[0] % 128U);
    require(count == texts.size());
    return 0;
}
