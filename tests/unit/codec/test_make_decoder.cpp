#include "k8s_sd/detail/codec/list_watch_reader.hpp"
#include "k8s_sd/detail/kinds/schema.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace k8s_sd;
using namespace k8s_sd::detail;

namespace {

struct NoDocuments final : DocumentSink {
    error_code on_item(std::string_view, const ObjectProblem&) override { return {}; }
    error_code on_event(std::string_view, const ObjectProblem&) override { return {}; }
};

bool can_read(std::string_view content_type) {
    const KindSchema& schema = schema_of(Kind::pod);
    const auto scratch = schema.make_scratch();
    NoDocuments sink;
    return make_decoder(content_type, schema, *scratch, 1024, sink) != nullptr;
}

TEST_CASE("make_decoder: JSON and protobuf are read, and a body without a type is tried as JSON") {
    CHECK(can_read("application/json"));
    CHECK(can_read(""));
    CHECK(can_read("application/vnd.kubernetes.protobuf"));
    CHECK_FALSE(can_read("application/protobuf"));
    CHECK_FALSE(can_read("text/html"));
}

}  // namespace
