#include "monitors/recorded.hpp"

#include "k8s_sd/monitors/monitor_configuration.hpp"

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

namespace monitors {

namespace {

namespace json = boost::json;

/// Monitors and owners may be nested deeper than usual JSON.
constexpr std::size_t max_depth = 256;

std::string text_of(const json::object& object, std::string_view key) {
    const json::value* value = object.if_contains(key);
    const json::string* text = value != nullptr ? value->if_string() : nullptr;
    return text != nullptr ? std::string(*text) : "";
}

bool flag_of(const json::object& object, std::string_view key) {
    const json::value* value = object.if_contains(key);
    const bool* flag = value != nullptr ? value->if_bool() : nullptr;
    return flag != nullptr && *flag;
}

/// The objects of a list; other items are skipped.
template <class Use>
void for_each_object(const json::object& of, std::string_view key, Use use) {
    const json::value* list = of.if_contains(key);
    if (list == nullptr || !list->is_array()) return;
    for (const json::value& item : list->get_array()) {
        if (const json::object* object = item.if_object()) use(*object);
    }
}

template <class Use>
void for_each_text(const json::object& of, std::string_view key, Use use) {
    const json::value* texts = of.if_contains(key);
    if (texts == nullptr || !texts->is_object()) return;
    for (const auto& [name, value] : texts->get_object()) {
        if (const json::string* text = value.if_string()) use(std::string(name), *text);
    }
}

k8s_sd::MonitorOptions options_of(const json::object& recorded) {
    k8s_sd::MonitorOptions options;
    const json::value* given = recorded.if_contains("options");
    const json::object none;
    const json::object& flags = given != nullptr && given->is_object() ? given->get_object() : none;
    options.inline_tls = flag_of(flags, "inlineTLS");
    options.without_version_check = flag_of(flags, "withoutVersionCheck");
    options.endpoint_slices = flag_of(flags, "endpointSlice");
    options.retention_policies = flag_of(flags, "retentionPolicies");
    options.topology_sharding = flag_of(flags, "topologySharding");
    options.pod_topology_labels = flag_of(flags, "podTopologyLabels");
    // Recorded objects have not been through an API server.
    options.server_defaults = false;
    return options;
}

void add_values(const json::object& recorded, std::string_view key,
                k8s_sd::MonitorReference::Kind kind, k8s_sd::MonitorInputs& inputs) {
    for_each_object(recorded, key, [&](const json::object& object) {
        for_each_text(object, "data", [&](std::string name, const json::string& value) {
            inputs.values[{kind, text_of(object, "namespace"), text_of(object, "name"),
                           std::move(name)}] = value;
        });
    });
}

k8s_sd::MonitorInputs inputs_of(const json::object& recorded) {
    using Kind = k8s_sd::MonitorReference::Kind;
    k8s_sd::MonitorInputs inputs;
    if (const json::value* owner = recorded.if_contains("owner")) inputs.owner = *owner;
    inputs.owner_namespace = text_of(recorded, "ownerNamespace");
    for_each_object(recorded, "objects",
                    [&](const json::object& object) { inputs.objects.emplace_back(object); });
    for_each_object(recorded, "namespaces", [&](const json::object& ns) {
        auto& labels = inputs.namespaces[text_of(ns, "name")];
        for_each_text(ns, "labels", [&](std::string name, const json::string& value) {
            labels[std::move(name)] = value;
        });
    });
    add_values(recorded, "secrets", Kind::secret, inputs);
    add_values(recorded, "configMaps", Kind::config_map, inputs);
    return inputs;
}

json::array refused_of(const k8s_sd::MonitorConfiguration& made) {
    json::array refused;
    for (const k8s_sd::RefusedMonitor& monitor : made.refused) {
        refused.push_back(json::object{{"object", monitor.object},
                                       {"reason", monitor.refusal.reason},
                                       {"remedy", monitor.refusal.remedy}});
    }
    return refused;
}

}  // namespace

json::object play_recorded(std::string_view line) {
    json::parse_options how;
    how.max_depth = max_depth;
    boost::system::error_code error;
    const json::value value = json::parse(line, error, {}, how);
    if (error || !value.is_object()) throw std::invalid_argument("no JSON object");
    const json::object& recorded = value.get_object();
    k8s_sd::MonitorConfiguration made =
        k8s_sd::make_monitor_configuration(inputs_of(recorded), options_of(recorded));
    json::object result{{"name", text_of(recorded, "name")}};
    result["accepted"] = json::array(made.accepted.begin(), made.accepted.end());
    result["refused"] = refused_of(made);
    if (made.refusal) {
        result["error"] = made.refusal->reason;
    } else {
        result["config"] = std::move(made.config);
    }
    return result;
}

}  // namespace monitors
