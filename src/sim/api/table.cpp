#include "sim/api/table.hpp"

#include "sim/store/json_access.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <cstdio>

namespace k8s_sd::inline v0::sim {
namespace json = boost::json;
namespace {

json::object column(std::string_view name, int priority = 0) {
    const std::string_view format = name == "Name" ? "name" : "";
    return {{"name", name},
            {"type", "string"},
            {"format", format},
            {"description", name},
            {"priority", priority}};
}

std::string text_or(const json::object& root, std::string_view path, std::string_view otherwise) {
    const std::string_view text = text_at(root, path);
    return std::string(text.empty() ? otherwise : text);
}

const json::array& array_at(const json::object& root, std::string_view path) {
    static const json::array none;
    const json::value* value = value_at(root, path);
    return value && value->is_array() ? value->get_array() : none;
}

/// "2026-11-20T12:05:30Z" → "3m", as kubectl abbreviates.
std::string age(const json::object& root) {
    using namespace std::chrono;
    const std::string text(text_at(root, "metadata.creationTimestamp"));
    int y = 0;
    unsigned mo = 0, d = 0, h = 0, mi = 0, s = 0;
    if (std::sscanf(text.c_str(), "%4d-%2u-%2uT%2u:%2u:%2uZ", &y, &mo, &d, &h, &mi, &s) != 6) {
        return "<unknown>";
    }
    const sys_seconds created =
        sys_days(year(y) / month(mo) / day(d)) + hours(h) + minutes(mi) + seconds(s);
    const auto lived = std::max(
        0L, static_cast<long>(duration_cast<seconds>(system_clock::now() - created).count()));
    if (lived < 120) return std::to_string(lived) + "s";
    if (lived < 3 * 3600) return std::to_string(lived / 60) + "m";
    if (lived < 48 * 3600) return std::to_string(lived / 3600) + "h";
    return std::to_string(lived / 86400) + "d";
}

json::array pod_cells(const json::object& pod, std::string_view name) {
    std::size_t ready = 0;
    std::int64_t restarts = 0;
    for (const json::value& status : array_at(pod, "status.containerStatuses")) {
        if (!status.is_object()) continue;
        const json::value* is_ready = value_at(status.get_object(), "ready");
        if (is_ready && is_ready->is_bool() && is_ready->get_bool()) ++ready;
        const json::value* count = value_at(status.get_object(), "restartCount");
        if (count && count->is_int64()) restarts += count->get_int64();
    }
    const std::size_t containers = array_at(pod, "spec.containers").size();
    const bool terminating = value_at(pod, "metadata.deletionTimestamp") != nullptr;
    return {name,
            std::to_string(ready) + "/" + std::to_string(containers),
            terminating ? "Terminating" : text_or(pod, "status.phase", "Unknown"),
            std::to_string(restarts),
            age(pod),
            text_or(pod, "status.podIP", "<none>"),
            text_or(pod, "spec.nodeName", "<none>")};
}

json::array cells(const Object& object, const json::object& value) {
    if (object.type().kind == "Pod") return pod_cells(value, object.name());
    if (object.type().kind == "Service") {
        return {object.name(), text_or(value, "spec.type", "ClusterIP"),
                text_or(value, "spec.clusterIP", "<none>"), age(value)};
    }
    return {object.name(), age(value)};
}

json::object partial(const json::object& value) {
    return {{"kind", "PartialObjectMetadata"},
            {"apiVersion", "meta.k8s.io/v1"},
            {"metadata", value.at("metadata")}};
}

}  // namespace

std::string table_columns(const ResourceType& type) {
    json::array columns{column("Name")};
    if (type.kind == "Pod") {
        for (const char* name : {"Ready", "Status", "Restarts"}) columns.push_back(column(name));
    } else if (type.kind == "Service") {
        for (const char* name : {"Type", "Cluster-IP"}) columns.push_back(column(name));
    }
    columns.push_back(column("Age"));
    if (type.kind == "Pod") {
        for (const char* name : {"IP", "Node"}) columns.push_back(column(name, 1));
    }
    return json::serialize(columns);
}

std::string table_row(const Object& object) {
    const json::object value = object.value();
    return json::serialize(
        json::object{{"cells", cells(object, value)}, {"object", partial(value)}});
}

std::string partial_object(const Object& object) {
    return json::serialize(partial(object.value()));
}

}  // namespace k8s_sd::inline v0::sim
