#include "k8s_sd/detail/codec/json/json_decoder.hpp"
#include "k8s_sd/detail/codec/list_watch_reader.hpp"
#include "k8s_sd/detail/codec/media_types.hpp"
#include "k8s_sd/detail/codec/object_members.hpp"
#include "k8s_sd/detail/codec/protobuf/protobuf_decoder.hpp"
#include "k8s_sd/objects/object.hpp"

#include <algorithm>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr std::size_t max_kind_size = 64;  // of a foreign kind in a message
// Both go into the path of the next request. Real values are much shorter.
constexpr std::size_t max_version_size = 1024;
constexpr std::size_t max_token_size = 32 * 1024;
/// The kind of every object in a response to a metadata-only request.
constexpr std::string_view metadata_kind = "PartialObjectMetadata";
constexpr std::string_view metadata_list_kind = "PartialObjectMetadataList";

bool ends_list(const api::ObjectMeta& bookmark) noexcept {
    return bookmark.annotations.find(initial_events_end) == "true";
}

}  // namespace

ListWatchReader::ListWatchReader(const KindSchema& schema, std::size_t max_object_bytes,
                                 EventSink& sink, MakeDecoder make)
    : schema_(schema), max_object_bytes_(max_object_bytes), sink_(sink), make_(make) {}

void ListWatchReader::expect(Document document, bool of_one_object) {
    document_ = document;
    of_one_object_ = of_one_object;
    kind_is_certain_ = true;
    kind_is_owed_ = managed_fields_ = false;
    list_.reset();
    problem_.clear();
}

ListWatchReader::Encoding ListWatchReader::encoding_of(std::string_view content_type) noexcept {
    if (content_type == protobuf_media_type) return Encoding::protobuf;
    return content_type == json_media_type ? Encoding::json : Encoding::unknown;
}

bool ListWatchReader::choose_decoder(std::string_view content_type) {
    const Encoding encoding = encoding_of(content_type);
    if (!decoder_ || encoding == Encoding::unknown || encoding != encoding_) {
        encoding_ = encoding;
        make_decoder_again(content_type);
    } else {
        decoder_->begin(document_);
    }
    return decoder_ != nullptr;
}

void ListWatchReader::make_decoder_again(std::string_view content_type) {
    if (!scratch_) scratch_ = schema_.make_scratch();
    decoder_ = make_(content_type, schema_, *scratch_, max_object_bytes_, *this);
    if (decoder_) decoder_->begin(document_);
}

void ListWatchReader::drop_idle_decoder() {
    if (!of_one_object_ || !decoder_->is_idle()) return;
    managed_fields_ = has_managed_fields();
    decoder_ = nullptr;
    scratch_ = nullptr;
}

error_code ListWatchReader::fail(error_code what, std::string_view why) {
    if (problem_.empty()) problem_ = why;
    return what;
}

error_code ListWatchReader::feed(std::string_view bytes) {
    if (!decoder_)
        make_decoder_again(encoding_ == Encoding::protobuf ? protobuf_media_type : json_media_type);
    if (const error_code ec = decoder_->feed(bytes)) return fail(ec, decoder_->problem());
    drop_idle_decoder();
    return {};
}

error_code ListWatchReader::finish() {
    if (!decoder_) return {};  // between events
    if (const error_code ec = decoder_->finish()) return fail(ec, decoder_->problem());
    if (document_ == Document::watch) return {};
    list_ = decoder_->list();
    return check_list();
}

error_code ListWatchReader::check_list() {
    const ListHead& list = *list_;
    if (const error_code ec = check_kind(list.kind)) return ec;
    if (kind_is_owed_ && !is_list_kind(list.kind)) return fail_without_kind();
    if (!list.has_items) return fail(errc::malformed_response, "the list has no items");
    if (!names_state(list.resource_version)) {
        return fail(errc::missing_resource_version,
                    list.resource_version.empty()
                        ? "the list has no metadata.resourceVersion"
                        : "the list's metadata.resourceVersion is 0, which names no state");
    }
    if (list.resource_version.size() > max_version_size) {
        return fail(errc::malformed_response, "the list's metadata.resourceVersion is too long");
    }
    if (list.continue_token.size() > max_token_size) {
        return fail(errc::malformed_response, "the list's metadata.continue is too long");
    }
    return {};
}

bool ListWatchReader::is_list_kind(std::string_view kind) const noexcept {
    constexpr std::string_view suffix = "List";
    const bool matches = kind.ends_with(suffix) && kind.substr(0, kind.size() - suffix.size()) ==
                                                       resource_of(schema_.kind).kind;
    return matches || (schema_.metadata_only && kind == metadata_list_kind);
}

bool ListWatchReader::is_object_kind(std::string_view kind) const noexcept {
    return kind == resource_of(schema_.kind).kind ||
           (schema_.metadata_only && kind == metadata_kind);
}

error_code ListWatchReader::check_kind(std::string_view list_kind) {
    // kubectl uses the kind "List" for a list of any objects.
    if (list_kind.empty() || is_list_kind(list_kind) || list_kind == "List") return {};
    return fail(errc::malformed_response, "the server answered with the kind " +
                                              std::string(list_kind.substr(0, max_kind_size)) +
                                              " instead of " +
                                              std::string(resource_of(schema_.kind).kind) +
                                              "List; is the path in the server's URL right?");
}

// Typed lists declare their kind first. In other lists it follows the items; these declare it.
error_code ListWatchReader::on_item(std::string_view list_kind, const ObjectProblem& problem) {
    if (const error_code ec = check_kind(list_kind)) return ec;
    kind_is_certain_ = is_list_kind(list_kind) || !scratch_->head().kind.empty();
    if (!kind_is_certain_ && problem.text.empty()) {
        // A list sorted by a proxy has its kind after the items.
        if (!list_kind.empty()) return fail_without_kind();
        kind_is_owed_ = true;
    }
    report(EventType::added, problem);
    return {};
}

error_code ListWatchReader::fail_without_kind() {
    return fail(errc::malformed_response,
                "neither the list nor its items say that they are of kind " +
                    std::string(resource_of(schema_.kind).kind));
}

error_code ListWatchReader::on_event(std::string_view type, const ObjectProblem& problem) {
    if (type == "ADDED") {
        report(EventType::added, problem);
    } else if (type == "MODIFIED") {
        report(EventType::modified, problem);
    } else if (type == "DELETED") {
        return report_deleted();
    } else if (type == "BOOKMARK") {
        report_bookmark(problem);
    } else if (type == "ERROR") {
        sink_.on_error_event(to_server_status(scratch_->head().status));
    } else if (type.empty()) {
        return fail(errc::malformed_response, "the documents in the body are not events");
    } else {
        report_bad(problem,
                   "an event of the unknown type \"" + std::string(type.substr(0, 32)) + "\"",
                   false);
    }
    return {};
}

void ListWatchReader::report_bookmark(const ObjectProblem& problem) {
    const std::string unusable = problem_of_version();
    if (!unusable.empty()) return report_bad(problem, unusable, false);
    sink_.on_bookmark(scratch_->meta().resource_version, ends_list(scratch_->meta()));
}

void ListWatchReader::report(EventType type, const ObjectProblem& problem) {
    if (!problem.text.empty()) return report_bad(problem, problem.text);
    const std::string unusable = problem_of_object();
    if (!unusable.empty()) return report_bad(problem, unusable);
    const api::ObjectMeta& meta = scratch_->meta();
    const bool too_long = std::max(meta.name.size(), meta.namespace_.size()) > max_key_size;
    if (too_long) return report_bad(problem, "an object with a name too long");
    sink_.on_object(type, {schema_.kind, scratch_->meta(), scratch_->model(), kind_is_certain_});
}

// A deleted object needs only a name. Without it, only a new list shows the remaining objects.
error_code ListWatchReader::report_deleted() {
    const std::string unusable = problem_of_object();
    if (unusable.empty()) {
        sink_.on_object(EventType::deleted, {schema_.kind, scratch_->meta(), scratch_->model()});
    } else if (is_of_other_kind()) {
        report_bad({}, unusable);
    } else {
        return fail(errc::malformed_response, "a DELETED event has " + unusable);
    }
    return {};
}

bool ListWatchReader::is_of_other_kind() const {
    const std::string_view kind = scratch_->head().kind;
    return !kind.empty() && !is_object_kind(kind);
}

// Why the version of the object is unusable to resume from; empty: it is usable.
std::string ListWatchReader::problem_of_version() const {
    const api::ObjectMeta& meta = scratch_->meta();
    if (is_of_other_kind()) {
        return "an object of the kind " +
               std::string(scratch_->head().kind.substr(0, max_kind_size)) + " and not " +
               std::string(resource_of(schema_.kind).kind);
    }
    if (meta.resource_version.size() > max_version_size) return "a resource version too long";
    return {};
}

std::string ListWatchReader::problem_of_object() const {
    std::string unusable = problem_of_version();
    if (!unusable.empty()) return unusable;
    const api::ObjectMeta& meta = scratch_->meta();
    const Resource& resource = resource_of(schema_.kind);
    if (meta.name.empty()) return "an object without a name";
    if (meta.namespace_.empty() && resource.namespaced) return "an object without a namespace";
    return {};
}

void ListWatchReader::report_bad(const ObjectProblem& problem, std::string_view text,
                                 bool is_state) {
    const api::ObjectMeta& meta = scratch_->meta();
    const errc what = problem.too_large ? errc::object_too_large : errc::bad_object;
    // Do not resume from an unreliable version, such as that of another collection.
    const std::string_view version =
        problem_of_version().empty() ? meta.resource_version : std::string_view();
    sink_.on_bad_object({meta.namespace_, meta.name, meta.uid, version, what, text, is_state});
}

std::unique_ptr<Decoder> make_decoder(std::string_view content_type, const KindSchema& schema,
                                      Scratch& scratch, std::size_t max_object_bytes,
                                      DocumentSink& sink) {
    if (content_type == protobuf_media_type && !schema.json_only) {
        return std::make_unique<ProtobufDecoder>(schema.protobuf, scratch, max_object_bytes, sink);
    }
    if (!content_type.empty() && content_type != json_media_type) return nullptr;
    return std::make_unique<JsonDecoder>(schema.json, scratch, max_object_bytes, sink);
}

}  // namespace k8s_sd::inline v0::detail
