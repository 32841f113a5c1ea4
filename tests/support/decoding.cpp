#include "support/decoding.hpp"

#include "k8s_sd/detail/codec/json_decoder.hpp"

#include <fstream>
#include <iterator>
#include <stdexcept>

namespace k8s_sd::test {

using namespace detail;

namespace {

struct NothingElse final : Lookup {
    const Object* find(Kind, std::string_view, std::string_view) override { return nullptr; }
};

void append(std::string& out, const LabelMap& labels) {
    for (const auto& [name, value] : labels) out += " " + name + "=" + value;
}

class Recorder final : public EventSink {
 public:
    explicit Recorder(const DialectRules& rules) : rules_(rules) {}

    void on_object(EventType type, ObjectPtr object, std::string_view version) override {
        static constexpr const char* names[] = {"added", "modified", "deleted"};
        decoded.calls.push_back(names[static_cast<int>(type)] +
                                (" " + key(object->ns(), object->name())) + at(version) +
                                describe(*object, rules_));
        decoded.objects.push_back(std::move(object));
    }
    void on_bookmark(std::string_view version, bool initial_events_end) override {
        decoded.calls.push_back("bookmark" + at(version) +
                                (initial_events_end ? " initial events end" : ""));
    }
    void on_error_event(const ServerStatus& status) override {
        decoded.calls.push_back("error " + std::to_string(status.code) + " " + status.reason +
                                ": " + status.message);
        decoded.errors.push_back(status);
    }
    void on_bad_object(std::string_view ns, std::string_view name, std::string_view version,
                       error_code ec, std::string_view problem) override {
        const bool large = ec == errc::object_too_large;
        decoded.calls.push_back((large ? "large " : "bad ") + key(ns, name) + at(version) + ": " +
                                std::string(problem));
    }

    Decoded decoded;

 private:
    static std::string key(std::string_view ns, std::string_view name) {
        return std::string(ns) + "/" + std::string(name);
    }
    static std::string at(std::string_view version) { return " @" + std::string(version); }

    const DialectRules& rules_;
};

Decoded run(JsonDecoder& decoder, Recorder& recorder, Document document,
            const std::vector<std::string_view>& chunks) {
    recorder.decoded = {};
    document == Document::list ? decoder.expect_list() : decoder.expect_watch();
    error_code ec;
    for (const std::string_view chunk : chunks) {
        const std::vector<char> copy(chunk.begin(), chunk.end());
        ec = decoder.feed({copy.data(), copy.size()});
        if (ec) break;
    }
    if (!ec) ec = decoder.finish();
    Decoded decoded = std::move(recorder.decoded);
    decoded.ec = ec;
    decoded.problem = decoder.problem();
    if (!ec && document == Document::list) {
        decoded.resource_version = decoder.resource_version();
        decoded.continue_token = decoder.continue_token();
    }
    return decoded;
}

}  // namespace

Decoded decode(Document document, Kind kind, const std::vector<std::string_view>& chunks,
               DecodeOptions options) {
    const DialectRules& rules = rules_of(options.dialect);
    ObjectMaker maker{{&rules, {}, false}, {}};
    Recorder recorder(rules);
    JsonDecoder decoder(kind, maker, options.max_object_bytes, recorder);
    return run(decoder, recorder, document, chunks);
}

std::vector<Decoded> decode_in_a_row(Kind kind,
                                     const std::vector<std::pair<Document, std::string>>& bodies,
                                     DecodeOptions options) {
    const DialectRules& rules = rules_of(options.dialect);
    ObjectMaker maker{{&rules, {}, false}, {}};
    Recorder recorder(rules);
    JsonDecoder decoder(kind, maker, options.max_object_bytes, recorder);
    std::vector<Decoded> all;
    for (const auto& [document, body] : bodies) {
        all.push_back(run(decoder, recorder, document, {body}));
    }
    return all;
}

ObjectPtr decode_object(Kind kind, ObjectMaker& maker, std::string_view json) {
    Recorder recorder(*maker.options.rules);
    JsonDecoder decoder(kind, maker, std::size_t{1} << 20, recorder);
    decoder.expect_watch();
    const std::string event = R"({"type":"ADDED","object":)" + std::string(json) + "}";
    error_code ec = decoder.feed(event);
    if (!ec) ec = decoder.finish();
    if (ec) throw std::runtime_error(decoder.problem());
    if (recorder.decoded.objects.size() != 1) {
        throw std::runtime_error("not one object but: " + recorder.decoded.calls.front());
    }
    return recorder.decoded.objects.front();
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
    const TargetGroupPtr group = generate(static_cast<Role>(object.kind()), object, generation);
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
