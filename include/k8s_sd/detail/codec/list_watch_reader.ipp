#include "k8s_sd/detail/codec/list_watch_reader.hpp"

#include <utility>

namespace k8s_sd::inline v0::detail {

ListWatchReader::ListWatchReader(const KindSchema& schema, std::size_t max_object_bytes,
                                 EventSink& sink, MakeDecoder make)
    : schema_(schema),
      max_object_bytes_(max_object_bytes),
      sink_(sink),
      make_(make),
      scratch_(schema.make_scratch()) {}

void ListWatchReader::expect(Document document) {
    document_ = document;
    chosen_ = false;
    list_ = {};
    problem_.clear();
}

bool ListWatchReader::choose_decoder(std::string_view content_type) {
    if (!decoder_ || content_type != content_type_) {
        decoder_ = make_(content_type, schema_, *scratch_, max_object_bytes_, *this);
        content_type_ = content_type;
    }
    chosen_ = decoder_ != nullptr;
    if (chosen_) decoder_->begin(document_);
    return chosen_;
}

error_code ListWatchReader::fail(error_code what, std::string why) {
    if (problem_.empty()) problem_ = std::move(why);
    return what;
}

error_code ListWatchReader::feed(std::string_view bytes) {
    const error_code ec = decoder_->feed(bytes);
    return ec ? fail(ec, decoder_->problem()) : ec;
}

error_code ListWatchReader::finish() {
    if (const error_code ec = decoder_->finish()) return fail(ec, decoder_->problem());
    if (document_ == Document::watch) return {};
    list_ = decoder_->list();
    return check_list();
}

error_code ListWatchReader::check_list() {
    const std::string expected = std::string(resource_of(schema_.kind).kind) + "List";
    // "List" is what kubectl calls a list of anything.
    if (!list_.kind.empty() && list_.kind != expected && list_.kind != "List") {
        return fail(errc::malformed_response,
                    "the body is a " + list_.kind.substr(0, 64) + ", not a " + expected);
    }
    if (!list_.has_items) return fail(errc::malformed_response, "the list has no items");
    if (list_.resource_version.empty()) {
        return fail(errc::missing_resource_version, "the list has no metadata.resourceVersion");
    }
    return {};
}

void ListWatchReader::on_item(const ObjectProblem& problem) { report(EventType::added, problem); }

error_code ListWatchReader::on_event(std::string_view type, const ObjectProblem& problem) {
    if (type == "ADDED") {
        report(EventType::added, problem);
    } else if (type == "MODIFIED") {
        report(EventType::modified, problem);
    } else if (type == "DELETED") {
        report(EventType::deleted, problem);
    } else if (type == "BOOKMARK") {
        sink_.on_bookmark(scratch_->meta().resource_version);
    } else if (type == "ERROR") {
        sink_.on_error_event(to_server_status(scratch_->meta().status));
    } else if (type.empty()) {
        return fail(errc::malformed_response, "the documents in the body are not events");
    } else {
        report_bad(problem,
                   "an event of the unknown type \"" + std::string(type.substr(0, 32)) + "\"");
    }
    return {};
}

void ListWatchReader::report(EventType type, const ObjectProblem& problem) {
    // Of a deleted object only the name is needed.
    if (!problem.text.empty() && type != EventType::deleted) {
        return report_bad(problem, problem.text);
    }
    const std::string_view unusable = problem_of_object();
    if (!unusable.empty()) return report_bad(problem, unusable);
    sink_.on_object(type, {schema_.kind, scratch_->meta(), scratch_->model()});
}

std::string_view ListWatchReader::problem_of_object() const {
    const model::ObjectMeta& meta = scratch_->meta();
    const Resource& resource = resource_of(schema_.kind);
    if (!meta.kind.empty() && meta.kind != resource.kind) return "an object of another kind";
    if (meta.name.empty()) return "an object without a name";
    if (meta.ns.empty() && resource.namespaced) return "an object without a namespace";
    return {};
}

void ListWatchReader::report_bad(const ObjectProblem& problem, std::string_view text) {
    const model::ObjectMeta& meta = scratch_->meta();
    const errc what = problem.too_large ? errc::object_too_large : errc::bad_object;
    sink_.on_bad_object(meta.ns, meta.name, meta.resource_version, what, text);
}

}  // namespace k8s_sd::inline v0::detail
