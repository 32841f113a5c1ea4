#pragma once

#include "k8s_sd/detail/codec/event.hpp"
#include "k8s_sd/detail/codec/fields.hpp"
#include "k8s_sd/detail/codec/json_projector.hpp"
#include "k8s_sd/detail/objects/data_object_maker.hpp"
#include "k8s_sd/detail/roles/maker.hpp"

#include <boost/json/basic_parser_impl.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Room for one decoded object of a kind, and what is done with it. Reused for every object.
class Scratch {
 public:
    virtual ~Scratch() = default;
    virtual void* aggregate() noexcept = 0;
    virtual const model::ObjectMeta& meta() const noexcept = 0;
    virtual void clear() = 0;
    /// Forgets everything but the metadata.
    virtual void reduce_to_metadata() = 0;
    /// Null if a value cannot be decoded: one of a Secret or ConfigMap that is not base64.
    virtual ObjectPtr make(Kind, ObjectMaker&) const = 0;
};

template <class Model>
class ScratchOf final : public Scratch {
 public:
    void* aggregate() noexcept override { return &model_; }
    const model::ObjectMeta& meta() const noexcept override { return model_.meta; }
    void clear() override {
        // Labels and annotations are the longest vectors; their memory is kept.
        auto labels = std::move(model_.meta.labels);
        auto annotations = std::move(model_.meta.annotations);
        labels.clear();
        annotations.clear();
        model_ = Model();
        model_.meta.labels = std::move(labels);
        model_.meta.annotations = std::move(annotations);
    }
    void reduce_to_metadata() override {
        model::ObjectMeta meta = std::move(model_.meta);
        model_ = Model();
        model_.meta = std::move(meta);
    }
    ObjectPtr make(Kind kind, ObjectMaker& maker) const override {
        return maker.make(kind, model_);
    }

 private:
    Model model_;
};

template <>
inline ObjectPtr ScratchOf<model::DataMap>::make(Kind kind, ObjectMaker&) const {
    return make_data_object(kind, model_);
}

/// Servers before 1.19 say it in the text only (kubernetes/kubernetes#91073).
inline bool says_version_too_large(const model::Status& status) {
    constexpr std::string_view text = "Too large resource version";
    for (const model::Status::Cause& cause : status.causes) {
        if (cause.reason == "ResourceVersionTooLarge") return true;
        if (cause.message.find(text) != std::string_view::npos) return true;
    }
    return status.message.find(text) != std::string_view::npos;
}

/// Decodes one response body after the other, in whatever chunks it comes: a list, or the events
/// of a watch. Objects go to the sink as they are complete; nothing else is kept.
class JsonDecoder final : private RecordSink {
 public:
    JsonDecoder(Kind kind, ObjectMaker& maker, std::size_t max_object_bytes, EventSink& sink);

    void expect_list();
    void expect_watch();
    /// \returns errc::malformed_response if the bytes are not JSON of the expected shape.
    error_code feed(std::string_view bytes);
    /// At the end of the body. \returns errc::truncated_response in the middle of a document.
    error_code finish();
    /// Gives back, cleansed, the memory for decoding. What was begun is lost. A watch waits most of
    /// the time without it.
    void release() {
        arena_.release();
        parser_.handler().release();
    }

    /// Of the list, once finish() has succeeded.
    const std::string& resource_version() const noexcept { return list_.resource_version; }
    const std::string& continue_token() const noexcept { return list_.continue_token; }
    /// What the last error code means, in words.
    const std::string& problem() const noexcept { return problem_; }

 private:
    struct ListDocument {
        std::string kind, resource_version, continue_token;
        void* item = nullptr;
    };
    struct WatchDocument {
        std::string_view type;
        void* object = nullptr;
    };

    /// The same for all decoders of a kind.
    struct Roots {
        explicit Roots(Kind);
        Projection list, watch;
    };
    static const Roots& roots_of(Kind);

    void start(const Projection& root, void* aggregate, const Projection* records);
    error_code feed_list(std::string_view bytes);
    error_code feed_watch(std::string_view bytes);
    error_code fail(errc what, std::string why);
    void on_record() override;
    void emit(EventType type);
    void emit_bad_object(std::string_view problem);
    void emit_error_event();
    void emit_bookmark();
    std::string_view object_problem(EventType type) const;

    Kind kind_;
    ObjectMaker& maker_;
    EventSink& sink_;
    TextArena arena_;
    std::unique_ptr<Scratch> scratch_;
    ListDocument list_;
    WatchDocument watch_;
    const Roots& roots_;
    boost::json::basic_parser<JsonProjector> parser_;
    bool watching_ = false;
    bool in_document_ = false;
    bool no_event_ = false;
    std::string problem_;
};

inline std::unique_ptr<Scratch> make_scratch(Kind kind) {
    switch (kind) {
        case Kind::node: return std::make_unique<ScratchOf<model::Node>>();
        case Kind::pod: return std::make_unique<ScratchOf<model::Pod>>();
        case Kind::service: return std::make_unique<ScratchOf<model::Service>>();
        case Kind::endpoints: return std::make_unique<ScratchOf<model::Endpoints>>();
        case Kind::endpointslice: return std::make_unique<ScratchOf<model::EndpointSlice>>();
        case Kind::ingress: return std::make_unique<ScratchOf<model::Ingress>>();
        case Kind::namespace_:
        case Kind::replicaset:
        case Kind::job: return std::make_unique<ScratchOf<model::MetadataOnly>>();
        case Kind::secret:
        case Kind::configmap: return std::make_unique<ScratchOf<model::DataMap>>();
    }
    return nullptr;
}

inline Members members_of(Kind kind) {
    switch (kind) {
        case Kind::node: return node_members();
        case Kind::pod: return pod_members();
        case Kind::service: return service_members();
        case Kind::endpoints: return endpoints_members();
        case Kind::endpointslice: return endpointslice_members();
        case Kind::ingress: return ingress_members();
        case Kind::namespace_: return object_members<model::MetadataOnly>({});
        case Kind::replicaset:
        case Kind::job:
            return object_members<model::MetadataOnly>({}, MetadataFields::without_labels);
        case Kind::secret:
        case Kind::configmap: return data_members();
    }
    return {};
}

inline JsonDecoder::Roots::Roots(Kind kind) {
    using namespace project;
    Projection items{.type = Projection::Type::array};
    items.begin = [](void* around) { return static_cast<ListDocument*>(around)->item; };
    items.element.push_back(object(members_of(kind)));
    list = object({
        {"kind", text<&ListDocument::kind>()},
        {"metadata", object({
                         {"resourceVersion", text<&ListDocument::resource_version>()},
                         {"continue", text<&ListDocument::continue_token>()},
                     })},
        {"items", std::move(items)},
    });
    Projection event_object = object(members_of(kind));
    event_object.begin = [](void* around) { return static_cast<WatchDocument*>(around)->object; };
    watch = object({
        {"type", text<&WatchDocument::type>()},
        {"object", std::move(event_object)},
    });
}

inline const JsonDecoder::Roots& JsonDecoder::roots_of(Kind kind) {
    static const std::vector<Roots> all = [] {
        std::vector<Roots> roots;
        roots.reserve(kind_count);
        for (std::size_t i = 0; i < kind_count; ++i) roots.emplace_back(static_cast<Kind>(i));
        return roots;
    }();
    return all[static_cast<std::size_t>(kind)];
}

inline JsonDecoder::JsonDecoder(Kind kind, ObjectMaker& maker, std::size_t max_object_bytes,
                                EventSink& sink)
    : kind_(kind),
      maker_(maker),
      sink_(sink),
      scratch_(make_scratch(kind)),
      roots_(roots_of(kind)),
      // Deeper than any object of Kubernetes, and far from the end of the stack.
      parser_({.max_depth = 256, .allow_invalid_utf8 = true}, arena_, max_object_bytes,
              static_cast<RecordSink&>(*this)) {
    list_.item = watch_.object = scratch_->aggregate();
}

inline void JsonDecoder::start(const Projection& root, void* aggregate, const Projection* records) {
    arena_.reset();
    scratch_->clear();
    parser_.reset();
    parser_.handler().start(root, aggregate, records);
    in_document_ = false;
    no_event_ = false;
    problem_.clear();
}

inline void JsonDecoder::expect_list() {
    watching_ = false;
    void* const item = list_.item;
    list_ = {};
    list_.item = item;
    start(roots_.list, &list_, roots_.list.member("items"));
}

inline void JsonDecoder::expect_watch() {
    watching_ = true;
    watch_.type = {};
    start(roots_.watch, &watch_, nullptr);
}

inline error_code JsonDecoder::fail(errc what, std::string why) {
    problem_ = std::move(why);
    return what;
}

inline error_code JsonDecoder::feed(std::string_view bytes) {
    return watching_ ? feed_watch(bytes) : feed_list(bytes);
}

inline std::string_view without_leading_space(std::string_view bytes) noexcept {
    const std::size_t start = bytes.find_first_not_of(" \t\r\n");
    return start == std::string_view::npos ? std::string_view() : bytes.substr(start);
}

inline error_code JsonDecoder::feed_list(std::string_view bytes) {
    if (parser_.done() || bytes.empty()) {
        if (without_leading_space(bytes).empty()) return {};
        return fail(errc::malformed_response, "the body goes on behind the list");
    }
    error_code ec;
    const std::size_t used = parser_.write_some(true, bytes.data(), bytes.size(), ec);
    if (ec) return fail(errc::malformed_response, "the body is not JSON: " + ec.message());
    return used < bytes.size() ? feed_list(bytes.substr(used)) : error_code();
}

inline error_code JsonDecoder::feed_watch(std::string_view bytes) {
    while (true) {
        if (!in_document_) bytes = without_leading_space(bytes);
        if (bytes.empty()) {
            if (!in_document_) release();
            return {};
        }
        if (!in_document_) expect_watch();
        in_document_ = true;
        error_code ec;
        const std::size_t used = parser_.write_some(true, bytes.data(), bytes.size(), ec);
        if (ec) return fail(errc::malformed_response, "the event is not JSON: " + ec.message());
        if (no_event_) return fail(errc::malformed_response, "the body is JSON, but not events");
        bytes.remove_prefix(used);
        in_document_ = !parser_.done();
    }
}

inline error_code JsonDecoder::finish() {
    release();
    if (watching_) {
        return in_document_ ? fail(errc::truncated_response, "the stream ended in an event")
                            : error_code();
    }
    if (!parser_.done()) return fail(errc::truncated_response, "the body ended in the list");
    const std::string& problem = parser_.handler().document_problem();
    if (!problem.empty()) return fail(errc::malformed_response, problem);
    const std::string expected = std::string(resource_of(kind_).kind) + "List";
    if (!list_.kind.empty() && list_.kind != expected && list_.kind != "List") {
        return fail(errc::malformed_response,
                    "the body is a " + list_.kind.substr(0, 64) + ", not a " + expected);
    }
    if (!parser_.handler().has_records()) {
        return fail(errc::malformed_response, "the list has no items");
    }
    if (list_.resource_version.empty()) {
        return fail(errc::missing_resource_version, "the list has no metadata.resourceVersion");
    }
    return {};
}

inline void JsonDecoder::on_record() {
    if (!watching_ || watch_.type == "ADDED") {
        emit(EventType::added);
    } else if (watch_.type == "MODIFIED") {
        emit(EventType::modified);
    } else if (watch_.type == "DELETED") {
        emit(EventType::deleted);
    } else if (watch_.type == "BOOKMARK") {
        emit_bookmark();
    } else if (watch_.type == "ERROR") {
        emit_error_event();
    } else if (watch_.type.empty()) {
        no_event_ = true;
    } else {
        emit_bad_object("an event of the unknown type \"" + std::string(watch_.type.substr(0, 32)) +
                        "\"");
    }
    scratch_->clear();
    arena_.reset();
    parser_.handler().clear_problem();
}

inline std::string_view JsonDecoder::object_problem(EventType type) const {
    const model::ObjectMeta& meta = scratch_->meta();
    const std::string& problem = parser_.handler().problem();
    // Of a deleted object only the name is needed.
    if (!problem.empty() && type != EventType::deleted) return problem;
    if (!meta.kind.empty() && meta.kind != resource_of(kind_).kind)
        return "an object of another kind";
    if (meta.name.empty()) return "an object without a name";
    if (meta.ns.empty() && resource_of(kind_).namespaced) return "an object without a namespace";
    return {};
}

inline void JsonDecoder::emit(EventType type) {
    const std::string_view problem = object_problem(type);
    if (!problem.empty()) return emit_bad_object(problem);
    ObjectPtr object = scratch_->make(kind_, maker_);
    if (!object && type == EventType::deleted) {
        scratch_->reduce_to_metadata();
        object = scratch_->make(kind_, maker_);
    }
    if (!object) return emit_bad_object("a value of the data is not base64");
    sink_.on_object(type, std::move(object), scratch_->meta().resource_version);
}

inline void JsonDecoder::emit_bad_object(std::string_view problem) {
    const model::ObjectMeta& meta = scratch_->meta();
    const errc what = parser_.handler().too_large() ? errc::object_too_large : errc::bad_object;
    sink_.on_bad_object(meta.ns, meta.name, meta.resource_version, what, problem);
}

inline void JsonDecoder::emit_bookmark() {
    const model::ObjectMeta& meta = scratch_->meta();
    bool initial_events_end = false;
    for (const auto& [key, value] : meta.annotations) {
        initial_events_end |= key == "k8s.io/initial-events-end" && value == "true";
    }
    sink_.on_bookmark(meta.resource_version, initial_events_end);
}

inline void JsonDecoder::emit_error_event() {
    const model::Status& status = scratch_->meta().status;
    ServerStatus error;
    error.code = static_cast<unsigned>(std::max<std::int64_t>(status.code, 0));
    error.reason = status.reason;
    error.message = status.message;
    error.retry_after_seconds =
        static_cast<unsigned>(std::max<std::int64_t>(status.retry_after_seconds, 0));
    error.version_too_large = says_version_too_large(status);
    sink_.on_error_event(error);
}

}  // namespace k8s_sd::inline v0::detail
