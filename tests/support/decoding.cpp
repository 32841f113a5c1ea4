#include "support/decoding.hpp"

#include "k8s_sd/detail/codec/list_watch_reader.hpp"
#include "k8s_sd/detail/kinds/generate.hpp"
#include "k8s_sd/detail/kinds/object_maker.hpp"
#include "k8s_sd/detail/kinds/schema.hpp"
#include "k8s_sd/objects/data_object.hpp"

#include <fstream>
#include <iterator>
#include <stdexcept>

namespace k8s_sd::test {

using namespace detail;

namespace {

struct NothingElse final : Lookup {
    const Object* find(Kind, std::string_view, std::string_view) override { return nullptr; }
};

// The role whose targets come from objects of this kind.
Role role_of(Kind kind) {
    for (std::size_t i = 0; i < role_names.size(); ++i) {
        if (main_kind(static_cast<Role>(i)) == kind) return static_cast<Role>(i);
    }
    throw std::logic_error("no role has its targets from this kind");
}

void append(std::string& out, const LabelMap& labels) {
    for (const auto& [name, value] : labels) out += " " + name + "=" + value;
}

class Recorder final : public EventSink {
 public:
    explicit Recorder(ObjectMaker& maker) : maker_(maker) {}

    void on_object(EventType type, const DecodedObject& object) override {
        static constexpr const char* names[] = {"added", "modified", "deleted"};
        const api::ObjectMeta& meta = object.meta;
        decoded.objects.push_back(maker_.make(object));
        decoded.calls.push_back(
            names[static_cast<int>(type)] + (" " + key(meta.namespace_, meta.name)) +
            at(meta.resource_version) + describe(*decoded.objects.back(), *maker_.options.rules));
    }
    void on_bookmark(std::string_view version, bool list_ends) override {
        decoded.calls.push_back("bookmark" + at(version) + (list_ends ? ", the list ends" : ""));
    }
    void on_error_event(const ServerStatus& status) override {
        decoded.calls.push_back("error " + std::to_string(status.code) + " " + status.reason +
                                ": " + status.message);
        decoded.errors.push_back(status);
    }
    void on_bad_object(const BadObject& bad) override {
        const bool large = bad.ec == errc::object_too_large;
        decoded.calls.push_back((large ? "large " : "bad ") + key(bad.ns, bad.name) +
                                at(bad.resource_version) + ": " + std::string(bad.problem));
    }

    Decoded decoded;

 private:
    static std::string key(std::string_view ns, std::string_view name) {
        return std::string(ns) + "/" + std::string(name);
    }
    static std::string at(std::string_view version) { return " @" + std::string(version); }

    ObjectMaker& maker_;
};

/// A watcher's reader with its collaborators.
struct Reading {
    Reading(Kind kind, ObjectMaker& maker, const DecodeOptions& options)
        : recorder(maker),
          reader(schema_of(kind, *maker.options.version_rules), options.max_object_bytes, recorder,
                 options.make) {}

    void begin(Document document) {
        reader.expect(document);
        if (!reader.choose_decoder("application/json")) throw std::logic_error("no decoder");
    }
    Decoded run(Document document, const std::vector<std::string_view>& chunks) {
        recorder.decoded = {};
        begin(document);
        error_code ec;
        for (const std::string_view chunk : chunks) {
            const std::vector<char> copy(chunk.begin(), chunk.end());
            ec = reader.feed({copy.data(), copy.size()});
            if (ec) break;
        }
        if (!ec) ec = reader.finish();
        Decoded decoded = std::move(recorder.decoded);
        decoded.ec = ec;
        decoded.problem = reader.problem();
        if (!ec && document == Document::list) {
            decoded.resource_version = reader.resource_version();
            decoded.continue_token = reader.continue_token();
        }
        return decoded;
    }

    Recorder recorder;
    ListWatchReader reader;
};

}  // namespace

Decoded decode(Document document, Kind kind, const std::vector<std::string_view>& chunks,
               DecodeOptions options) {
    ObjectMaker maker{{&rules_of(options.dialect), {}, false}, {}};
    return Reading(kind, maker, options).run(document, chunks);
}

std::vector<Decoded> decode_in_a_row(Kind kind,
                                     const std::vector<std::pair<Document, std::string>>& bodies,
                                     DecodeOptions options) {
    ObjectMaker maker{{&rules_of(options.dialect), {}, false}, {}};
    Reading reading(kind, maker, options);
    std::vector<Decoded> all;
    for (const auto& [document, body] : bodies) all.push_back(reading.run(document, {body}));
    return all;
}

ObjectPtr decode_object(Kind kind, ObjectMaker& maker, std::string_view json) {
    Reading reading(kind, maker, DecodeOptions());
    const std::string event = R"({"type":"ADDED","object":)" + std::string(json) + "}";
    const Decoded decoded = reading.run(Document::watch, {event});
    if (decoded.ec) throw std::runtime_error(decoded.problem);
    if (decoded.objects.size() != 1) {
        throw std::runtime_error("not one object but: " + decoded.calls.front());
    }
    return decoded.objects.front();
}

std::string describe(const Object& object, const DialectRules& rules) {
    std::string text = " |";
    if (object.kind() == Kind::replicaset || object.kind() == Kind::job) {
        const auto& owner = static_cast<const WorkloadLink&>(object);
        return text + " of " + owner.controller_kind + "/" + owner.controller_name;
    }
    if (object.kind() == Kind::secret || object.kind() == Kind::configmap) {
        const auto& data = static_cast<const DataObject&>(object);
        text += (data.immutable() ? " immutable " : " ") + std::string(data.type());
        for (const auto& [key, value] : data)
            text += " " + std::string(key) + "=" + std::string(value);
        return text;
    }
    append(text, object.metadata_labels().to_map());
    if (object.kind() == Kind::namespace_) return text;
    const RoleOptions options{&rules, {}, false};
    LabelFactory factory;
    NothingElse lookup;
    GroupBuilder builder;
    GeneratorContext generation{options, factory, lookup, builder};
    const TargetGroupPtr group = generate(role_of(object.kind()), object, generation);
    for (std::size_t i = 0; group && i < group->size(); ++i) {
        text += " |";
        append(text, (group->labels().to_map()));
        text += " +";
        append(text, (*group)[i].to_map());
    }
    return text;
}

std::string decoder_data(const std::string& name) {
    std::ifstream file(std::string(K8S_SD_TEST_DATA) + "/decoder/" + name, std::ios::binary);
    if (!file) throw std::runtime_error("no test data " + name);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace k8s_sd::test
