// Random objects with every field known to the server: both encodings yield the same models.

#include "k8s_sd/detail/kinds/schema.hpp"
#include "property/random_cluster.hpp"
#include "sim/protobuf/encode.hpp"
#include "support/model_reading.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <limits>
#include <string>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using detail::Document;
namespace json = boost::json;

namespace {

/// Objects according to the server's protobuf tables.
class RandomObjects {
 public:
    explicit RandomObjects(Random& random) : random_(random) {}

    json::object make(sim::Message message, int depth = 0) {
        json::object object;
        fill(object, message, depth);
        return object;
    }

 private:
    static constexpr int deepest = 9;

    void fill(json::object& object, sim::Message message, int depth) {
        for (const sim::Field& field : message) {
            if (field.presence == sim::Presence::inlined) {
                fill(object, field.message, depth);
            } else if (depth < deepest && random_.one_in(2)) {
                add(object, field, depth);
            }
        }
    }
    void add(json::object& object, const sim::Field& field, int depth) {
        if (field.presence == sim::Presence::list) {
            json::array& all = object[field.name].emplace_array();
            for (unsigned n = random_.below(3); n > 0; --n) add_to(all, field, depth);
        } else if (field.presence == sim::Presence::map) {
            json::object& all = object[field.name].emplace_object();
            // In the order of their keys, as Go writes them.
            for (const char* key : {"", "a", "a.b/c", "é"}) {
                if (random_.one_in(2)) add_to(all[key], field, depth);
            }
        } else {
            json::value value;
            if (add_to(value, field, depth)) object[field.name] = std::move(value);
        }
    }
    void add_to(json::array& all, const sim::Field& field, int depth) {
        json::value value;
        if (add_to(value, field, depth)) all.push_back(std::move(value));
    }
    /// False: its JSON form differs, and it affects no label.
    bool add_to(json::value& value, const sim::Field& field, int depth) {
        switch (field.kind) {
            case sim::FieldKind::text:
                value = random_.pick<std::string>({"", "x", "10.0.0.1", "zwölf \"Boxkämpfer\"\n",
                                                   std::string(random_.below(300), 'l')});
                return true;
            case sim::FieldKind::bytes:
                value = random_.pick<std::string>({"", "AP8B", "eA==", "/+8="});
                return true;
            case sim::FieldKind::integer:
                value = random_.pick<std::int64_t>({0, 1, 80, -1, 65535,
                                                    std::numeric_limits<std::int32_t>::max(),
                                                    std::numeric_limits<std::int32_t>::min()});
                return true;
            case sim::FieldKind::boolean: value = random_.one_in(2); return true;
            case sim::FieldKind::message: value = make(field.message, depth + 1); return true;
            case sim::FieldKind::int_or_string:
                value = random_.one_in(2) ? json::value(80) : json::value("http");
                return true;
            case sim::FieldKind::time:
            case sim::FieldKind::quantity:
            case sim::FieldKind::json: return false;
        }
        return false;
    }

    Random& random_;
};

struct Both {
    std::string json, protobuf;
};

Both event_of(const std::string& kind, json::object object, sim::Message message) {
    Both both;
    sim::append_protobuf_frame(
        both.protobuf, "ADDED",
        sim::protobuf_body("v1", kind, sim::encode_protobuf(message, object)));
    object["kind"] = kind;
    both.json = json::serialize(json::object{{"type", "ADDED"}, {"object", std::move(object)}});
    return both;
}

}  // namespace

TEST_CASE("Encodings: random objects of every kind have the same model in JSON and in protobuf") {
    Random random(12);
    RandomObjects objects(random);
    for (std::size_t i = 0; i < kind_count; ++i) {
        const auto kind = static_cast<Kind>(i);
        if (detail::schema_of(kind).json_only) continue;
        const std::string name(resource_of(kind).kind);
        const sim::Message message = sim::find_message("v1", name);
        ModelReading reading(kind, std::size_t{64} << 20);
        for (int round = 0; round < 60; ++round) {
            json::object object = objects.make(message);
            // Without a name, the rest is not read.
            json::object& meta = object["metadata"].is_object()
                                     ? object["metadata"].as_object()
                                     : object["metadata"].emplace_object();
            meta["name"] = "x";
            meta["namespace"] = "n";
            const Both body = event_of(name, std::move(object), message);
            const auto in_json = reading.read(Document::watch, json_type, body.json);
            const auto in_protobuf =
                reading.read(Document::watch, protobuf_type, body.protobuf, 1 + random.below(5000));
            REQUIRE(in_json.calls.size() == 1);
            REQUIRE(in_json.calls[0].starts_with("added "));
            if (!(in_json == in_protobuf)) {
                CAPTURE(name, body.json);
                CHECK(in_protobuf.calls[0] == in_json.calls[0]);
            }
        }
    }
}
