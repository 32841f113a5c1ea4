#include "event.hpp"

namespace k8s_sd_c {

namespace {

std::string_view type_name(k8s_sd_event_type type) {
    switch (type) {
        case K8S_SD_GROUPS: return "groups";
        case K8S_SD_TARGETS: return "targets";
        case K8S_SD_OBJECTS: return "objects";
        case K8S_SD_OBJECT: return "object";
        case K8S_SD_STATUS: return "status";
    }
    return {};
}

std::string_view op_name(k8s_sd_op op) {
    switch (op) {
        case K8S_SD_ADDED: return "added";
        case K8S_SD_CHANGED: return "changed";
        case K8S_SD_REMOVED: return "removed";
        case K8S_SD_REPLACED: return "replaced";
    }
    return {};
}

}  // namespace

k8s_sd_op Event::op(std::size_t) const { return {}; }
std::string_view Event::key(std::size_t) { return {}; }
std::size_t Event::targets(std::size_t) const { return 0; }
std::size_t Event::pairs(std::size_t, std::int64_t, std::span<k8s_sd_pair>) const { return 0; }
std::optional<std::string_view> Event::value(std::size_t, std::int64_t, std::string_view) const {
    return std::nullopt;
}
std::optional<std::string_view> Event::field(std::size_t, std::string_view) { return std::nullopt; }
std::string_view Event::url(std::size_t) { return {}; }
std::uint64_t Event::interval_ms(std::size_t) const { return 0; }
std::uint64_t Event::timeout_ms(std::size_t) const { return 0; }
void Event::write_change(JsonWriter&, std::size_t) {}

std::string Event::make_json(std::size_t size) {
    std::string text;
    text.reserve(size);
    JsonWriter out(text);
    out.begin('{').member("watch", watch_.id).member("type", type_name(type_));
    write_members(out);
    if (type_ != K8S_SD_STATUS) {
        out.member("full", full_).member("more", more_).name("changes").begin('[');
        for (std::size_t i = 0; i < this->size(); ++i) {
            out.begin('{').member("op", op_name(op(i))).member("key", key(i));
            if (op(i) != K8S_SD_REMOVED) write_change(out, i);
            out.end('}');
        }
        out.end(']');
    }
    out.end('}');
    return text;
}

std::string_view Event::json() {
    if (!json_) json_ = make_json();
    return *json_;
}

}  // namespace k8s_sd_c
