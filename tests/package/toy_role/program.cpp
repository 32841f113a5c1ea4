// Reads a list of widgets from JSON and prints all data of the library about the toy kind and the
// toy role.

#include "k8s_sd/detail/base/abi.ipp"
#include "k8s_sd/detail/base/error.ipp"
#include "k8s_sd/detail/base/hash.ipp"
#include "k8s_sd/detail/base/other_kinds.ipp"
#include "k8s_sd/detail/codec/generic_reader.ipp"
#include "k8s_sd/detail/codec/json/json_decoder.ipp"
#include "k8s_sd/detail/codec/json/json_skip.ipp"
#include "k8s_sd/detail/codec/list_watch_reader.ipp"
#include "k8s_sd/detail/codec/protobuf/protobuf_decoder.ipp"
#include "k8s_sd/detail/codec/protobuf/protobuf_envelope.ipp"
#include "k8s_sd/detail/codec/protobuf/protobuf_projector.ipp"
#include "k8s_sd/detail/kinds/field_mask.ipp"
#include "k8s_sd/detail/kinds/generate.hpp"
#include "k8s_sd/detail/kinds/generic.ipp"
#include "k8s_sd/detail/kinds/object_maker.ipp"
#include "k8s_sd/detail/kinds/schema.ipp"
#include "k8s_sd/detail/labels/target_group.ipp"
#include "k8s_sd/metrics.hpp"

#include <iostream>

namespace {

using namespace k8s_sd;

struct NothingElse final : detail::Lookup {
    const Object* find(Kind, std::string_view, std::string_view) override { return nullptr; }
};

class Printer final : public detail::EventSink {
 public:
    void on_object(detail::EventType, const detail::DecodedObject& decoded) override {
        const ObjectPtr object = maker_.make(decoded);
        NothingElse lookup;
        detail::GroupBuilder builder;
        detail::GeneratorContext context{maker_.options, maker_.factory, lookup, builder};
        const TargetGroupPtr group = detail::generate(Role::widget, *object, context);
        std::cout << group->source();
        for (const auto& [name, value] : group->merged(0)) std::cout << " " << name << "=" << value;
        std::cout << "\n";
    }
    void on_bookmark(std::string_view, bool) override {}
    void on_error_event(const detail::ServerStatus&) override {}
    void on_bad_object(const detail::BadObject& bad) override {
        std::cout << "bad " << bad.name << ": " << bad.problem << "\n";
    }

 private:
    detail::ObjectMaker maker_;
};

}  // namespace

int main() {
    Printer printer;
    detail::ListWatchReader reader(detail::schema_of(Kind::widget), 10'000, printer);
    reader.expect(detail::Document::list);
    reader.choose_decoder("application/json");
    error_code ec = reader.feed(
        R"({"kind":"WidgetList","metadata":{"resourceVersion":"1"},"items":[)"
        R"({"metadata":{"name":"a","namespace":"n"},"spec":{"host":"one","port":7}},)"
        R"({"metadata":{"name":"b","namespace":"n"},"spec":{"host":"two","port":"x"}}]})");
    if (!ec) ec = reader.finish();
    std::cout << (ec ? reader.problem() : "listed") << "\n";
    std::cout << "path " << collection_path(Kind::widget, "n") << "\n";
    std::cout << "role " << to_string(role_from_string("widget").value()) << "\n";
    std::cout << "needs";
    for (const Kind kind : detail::needed_kinds(Role::widget, {.namespace_ = true})) {
        std::cout << " " << to_string(kind);
    }
    std::cout << "\n";
    Metrics metrics;
    std::cout << "metrics " << &metrics.of(Kind::widget) - metrics.kinds.data() << "\n";
    return 0;
}
