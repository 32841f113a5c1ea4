#include "support/model_reading.hpp"

#include "k8s_sd/detail/kinds/schema.hpp"
#include "support/model_text.hpp"

#include <stdexcept>

namespace k8s_sd::test {

namespace {

std::string text(std::string_view view) { return std::string(view); }

}  // namespace

ModelReading::ModelReading(Kind kind, std::size_t max_object_bytes)
    : ModelReading(detail::schema_of(kind), max_object_bytes) {}

ModelReading::Result ModelReading::read(detail::Document document, std::string_view type,
                                        std::string_view body, std::size_t chunk) {
    result_ = {};
    reader.expect(document);
    if (!reader.choose_decoder(type)) throw std::logic_error("no decoder");
    while (!body.empty() && !result_.ec) {
        const std::string_view part = body.substr(0, chunk);
        body.remove_prefix(part.size());
        const std::vector<char> copy(part.begin(), part.end());
        result_.ec = reader.feed({copy.data(), copy.size()});
    }
    if (!result_.ec) result_.ec = reader.finish();
    result_.problem = reader.problem();
    if (!result_.ec) {
        result_.resource_version = reader.resource_version();
        result_.continue_token = reader.continue_token();
        result_.shard_selector = reader.shard_selector();
    }
    return result_;
}

void ModelReading::on_object(detail::EventType type, const detail::DecodedObject& object) {
    static constexpr const char* names[] = {"added ", "modified ", "deleted "};
    add(names[static_cast<int>(type)] + ModelText::of(object.kind, object.model));
}

void ModelReading::on_bookmark(std::string_view version, bool) {
    add("bookmark @" + text(version));
}

void ModelReading::on_error_event(const detail::ServerStatus& status) {
    std::string causes;
    for (const auto& cause : status.causes) {
        causes += " (" + cause.reason + ": " + cause.message + ")";
    }
    add("error " + std::to_string(status.code) + " " + status.reason + ": " + status.message +
        " after " + std::to_string(status.retry_after_seconds) + causes);
}

void ModelReading::on_bad_object(const detail::BadObject& bad) {
    add((bad.ec == errc::object_too_large ? "large " : "bad ") + text(bad.ns) + "/" +
        text(bad.name) + " @" + text(bad.resource_version) + ": " + text(bad.problem));
}

}  // namespace k8s_sd::test
