#pragma once

#include "k8s_sd/detail/monitors/generation.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

namespace k8s_sd::test {

/// JSON with apostrophes in place of quotes.
inline boost::json::value json_of(std::string text) {
    for (char& c : text) {
        if (c == '\'') c = '"';
    }
    return boost::json::parse(text);
}

/// JSON with apostrophes in place of quotes.
inline std::string text_of(const boost::json::value& value) {
    std::string text = boost::json::serialize(value);
    for (char& c : text) {
        if (c == '"') c = '\'';
    }
    return text;
}

/// Secrets and ConfigMaps by "namespace/name/key".
class MonitorValues final : public detail::ReferenceSource {
 public:
    std::map<std::string, std::string> secrets{{"ns/creds/user", "u"},  {"ns/creds/pw", " p\n"},
                                               {"ns/creds/token", "t"}, {"ns/creds/id", "i"},
                                               {"ns/creds/cs", "c"},    {"mon/creds/token", "m"}};
    std::map<std::string, std::string> config_maps{{"ns/cm/id", "ci"}};
    bool loaded = true;

    detail::ReferencedValue find(const MonitorReference& reference) const override {
        using State = detail::ReferencedValue::State;
        const auto& values =
            reference.kind == MonitorReference::Kind::secret ? secrets : config_maps;
        const std::string object = reference.object_namespace + "/" + reference.name + "/";
        const auto found = values.find(object + reference.key);
        if (found != values.end()) return {State::found, found->second};
        const auto near = values.lower_bound(object);
        const bool exists = near != values.end() && near->first.starts_with(object);
        return {exists ? State::no_key : State::no_object, {}};
    }
    bool is_loaded(const MonitorReference&) const override { return loaded; }
};

/// An owner "mon/main", its options and the Secrets, for monitors "ns/m".
struct MonitorFixture {
    MonitorOwner owner{.name = "main", .owner_namespace = "mon"};
    MonitorOptions options{};
    MonitorValues values{};

    detail::Generation made(MonitorKind kind, const std::string& spec) const {
        boost::json::object object{{"metadata", {{"namespace", "ns"}, {"name", "m"}}}};
        object["spec"] = json_of(spec);
        return detail::generate(owner, kind, object, options, values);
    }
    /// The reason of a refusal; empty if none.
    std::string reason(MonitorKind kind, const std::string& spec) const {
        const detail::Generation generation = made(kind, spec);
        return generation.refusal ? generation.refusal->reason : "";
    }
    /// The only job.
    boost::json::object job(MonitorKind kind, const std::string& spec) const {
        detail::Generation generation = made(kind, spec);
        if (generation.refusal) throw std::runtime_error(generation.refusal->reason);
        if (generation.jobs.size() != 1) throw std::runtime_error("not one job");
        return generation.jobs.front().config.to_json();
    }
    /// A key of the only job, as text; "none" if it is absent.
    std::string key(MonitorKind kind, std::string_view key, const std::string& spec) const {
        const boost::json::object config = job(kind, spec);
        const boost::json::value* value = config.if_contains(key);
        return value ? text_of(*value) : "none";
    }
    /// Reads the owner.
    void set_owner(const std::string& spec, const char* kind = "Prometheus") {
        boost::json::object object{{"kind", kind},
                                   {"metadata", {{"namespace", "mon"}, {"name", "main"}}}};
        object["spec"] = json_of(spec);
        detail::OwnerReading reading = detail::read_owner(object, "", options, values);
        if (!reading.owner) throw std::runtime_error(reading.refusal->reason);
        owner = *reading.owner;
    }
};

inline constexpr auto service_monitor = MonitorKind::service_monitor;
inline constexpr auto pod_monitor = MonitorKind::pod_monitor;
inline constexpr auto probe = MonitorKind::probe;
inline constexpr auto scrape_config = MonitorKind::scrape_config;
inline constexpr auto vm_service = MonitorKind::vm_service_scrape;
inline constexpr auto vm_pod = MonitorKind::vm_pod_scrape;
inline constexpr auto vm_node = MonitorKind::vm_node_scrape;
inline constexpr auto vm_static = MonitorKind::vm_static_scrape;
inline constexpr auto vm_probe = MonitorKind::vm_probe;
inline constexpr auto vm_scrape_config = MonitorKind::vm_scrape_config;

/// With a VMAgent.
inline MonitorFixture vm_fixture(const std::string& spec = "{}") {
    MonitorFixture fixture;
    fixture.set_owner(spec, "VMAgent");
    return fixture;
}

}  // namespace k8s_sd::test
