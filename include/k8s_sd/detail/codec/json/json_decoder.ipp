#include "k8s_sd/detail/codec/json/json_decoder.hpp"

#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

std::string_view without_leading_space(std::string_view bytes) noexcept {
    const std::size_t start = bytes.find_first_not_of(" \t\r\n");
    return start == std::string_view::npos ? std::string_view() : bytes.substr(start);
}

}  // namespace

/// Reads only the identity of an oversized object; its text is not stored.
class JsonDecoder::OversizedObject final : RecordSink {
 public:
    /// \param raw  the object's node
    OversizedObject(const Projection& raw, void* object)
        : parser_(arena_, std::size_t{0}, static_cast<RecordSink&>(*this)) {
        parser_.handler().start(raw.element.front(), object, nullptr);
    }
    void feed(std::string_view part) { parser_.feed(part); }

 private:
    void on_record() override {}

    TextArena arena_;
    JsonParser<JsonProjector> parser_;
};

JsonDecoder::~JsonDecoder() = default;

JsonDecoder::JsonDecoder(const JsonSchema& schema, Scratch& scratch, std::size_t max_object_bytes,
                         DocumentSink& sink)
    : schema_(schema),
      scratch_(scratch),
      sink_(sink),
      parser_(arena_, max_object_bytes, static_cast<RecordSink&>(*this)) {
    list_.item = event_.object = scratch.model();
}

void JsonDecoder::begin(Document document) {
    document_ = document;
    in_event_ = false;
    mark_.begin();
    has_managed_fields_ = false;
    surrogates_.clear();
    document == Document::list ? begin_list() : begin_event();
}

void JsonDecoder::begin_list() {
    list_ = {{}, {}, {}, {}, list_.item};
    head_ = {};
    start(schema_.list, &list_, schema_.list.member("items"));
}

void JsonDecoder::begin_event() {
    event_.type = {};
    start(schema_.event, &event_, nullptr);
}

void JsonDecoder::start(const Projection& root, void* aggregate, const Projection* records) {
    arena_.reset();
    scratch_.clear();
    oversized_.reset();
    parser_.begin();
    parser_.handler().start(root, aggregate, records);
    refused_ = {};
    problem_.clear();
}

void JsonDecoder::release() {
    arena_.release();
    parser_.handler().release();
}

error_code JsonDecoder::fail(errc what, std::string why) {
    problem_ = std::move(why);
    return what;
}

error_code JsonDecoder::not_json(std::string_view what) {
    // Half a surrogate pair may be the cause: filter the next body.
    filters_surrogates_ = true;
    return fail(errc::malformed_response,
                std::string(what) + " is not JSON: " + std::string(parser_.problem()));
}

// Some servers and proxies write a byte order mark, as some programs on Windows do.
error_code JsonDecoder::feed(std::string_view bytes) {
    return mark_.feed(bytes, [this](std::string_view text) { return feed_text(text); });
}

error_code JsonDecoder::feed_text(std::string_view bytes) {
    if (!filters_surrogates_) return feed_parser(bytes);
    return surrogates_.feed(bytes, [this](std::string_view text) { return feed_parser(text); });
}

error_code JsonDecoder::feed_parser(std::string_view bytes) {
    return document_ == Document::list ? feed_list(bytes) : feed_watch(bytes);
}

error_code JsonDecoder::feed_list(std::string_view bytes) {
    if (parser_.done() || bytes.empty()) {
        if (without_leading_space(bytes).empty()) return {};
        return fail(errc::malformed_response, "the body continues after the list");
    }
    const std::size_t used = parser_.feed(bytes);
    if (refused_) return refused_;
    if (!parser_.problem().empty()) return not_json("the body");
    return used < bytes.size() ? feed_list(bytes.substr(used)) : error_code();
}

error_code JsonDecoder::feed_watch(std::string_view bytes) {
    while (true) {
        if (!in_event_) bytes = without_leading_space(bytes);
        if (bytes.empty()) {
            // Free the memory between events: a watch is idle most of the time.
            if (!in_event_) release();
            return {};
        }
        if (!in_event_) begin_event();
        in_event_ = true;
        const std::size_t used = parser_.feed(bytes);
        if (!parser_.problem().empty()) return not_json("the event");
        if (refused_) return refused_;
        bytes.remove_prefix(used);
        in_event_ = !parser_.done();
    }
}

error_code JsonDecoder::finish() {
    const auto last = [this](std::string_view text) { return feed_parser(text); };
    error_code ec = mark_.finish(last);
    if (!ec) ec = surrogates_.finish(last);
    release();
    if (ec) return ec;
    if (document_ == Document::list) return finish_list();
    if (in_event_) return fail(errc::truncated_response, "the stream ended in an event");
    return {};
}

error_code JsonDecoder::finish_list() {
    if (!parser_.done()) return fail(errc::truncated_response, "the body ended in the list");
    const JsonProjector& projector = parser_.handler();
    if (!projector.document_problem().empty()) {
        return fail(errc::malformed_response, projector.document_problem());
    }
    head_ = {list_.kind, list_.resource_version, list_.continue_token, projector.has_records(),
             list_.shard_selector};
    return {};
}

void JsonDecoder::on_record() {
    if (refused_) return;  // the parser continues to the end of the chunk
    const JsonProjector& projector = parser_.handler();
    const ObjectProblem problem{projector.problem(), projector.too_large()};
    has_managed_fields_ |= projector.has_presence() || scratch_.head().managed_fields;
    if (document_ == Document::list) {
        if (head_.resource_version.empty()) head_.resource_version = list_.resource_version;
        refused_ = sink_.on_item(list_.kind, problem);
    } else {
        refused_ = sink_.on_event(event_.type, problem);
    }
    scratch_.clear();
    oversized_.reset();
    arena_.reset();
    parser_.handler().clear_problem();
}

void JsonDecoder::on_oversized(const Projection& node, void* object, std::string_view part) {
    if (node.element.empty()) return;
    if (!oversized_) oversized_ = std::make_unique<OversizedObject>(node, object);
    oversized_->feed(part);
}

}  // namespace k8s_sd::inline v0::detail
