#pragma once

#include "k8s_sd/detail/monitors/references.hpp"
#include "k8s_sd/detail/scrape/scrape_entry.hpp"
#include "k8s_sd/monitors/monitor.hpp"
#include "k8s_sd/monitors/monitor_owner.hpp"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// From monitors to scrape configurations, as prometheus-operator 0.93 does it. No function here
/// throws, except for lack of memory; objects may have any content.
namespace k8s_sd::inline v0::detail {

using MonitorLabels = std::map<std::string, std::string, std::less<>>;

class GeneratedRules;

/// A job of a monitor.
struct GeneratedJob {
    std::string origin{};   ///< "serviceMonitor/ns/name/0": also the job's name
    ScrapeEntry config{};   ///< with the keys of Prometheus, in the order of the operator
    std::size_t bytes = 0;  ///< of memory for the configuration, roughly
};

/// The memory of a generated configuration, roughly.
std::size_t generated_bytes(const ScrapeEntry&);

/// The jobs of one monitor.
struct Generation {
    std::vector<GeneratedJob> jobs{};         ///< empty if refused, or if it has no endpoints
    std::optional<MonitorRefusal> refusal{};  ///< of the whole object
    /// Requested keys, found or not. If one of them changes, generate again.
    std::set<MonitorReference> references{};
    /// Keys of a scrape class; their values are used only if another valid monitor references
    /// their Secret, too.
    std::set<MonitorReference> class_references{};
    std::size_t bytes = 0;      ///< estimated memory of the jobs
    bool is_too_large = false;  ///< the jobs, with the values in them: one reason for a refusal
};

/// An owner with its references, or the reason for its refusal.
struct OwnerReading {
    std::optional<MonitorOwner> owner;      ///< nullopt if refused
    std::optional<MonitorRefusal> refusal;  ///< of the owner: no jobs at all
    std::set<MonitorReference> references;  ///< requested keys, found or not
};

/// Reads a Prometheus or PrometheusAgent object as the API server sends it, or a mapping of the
/// same form from a file. `kind` may be absent: Prometheus.
/// \param default_namespace  for an object without `metadata.namespace`
OwnerReading read_owner(const boost::json::value& object, std::string_view default_namespace,
                        const MonitorOptions&, const ReferenceSource&);

/// Validates an owner made of options.
OwnerReading check_owner(MonitorOwner, const MonitorOptions&, const ReferenceSource&);

/// The section `global` of the owner's configuration.
boost::json::object global_section(const MonitorOwner&, const MonitorOptions&);

/// Why a monitor is not selected.
enum class Unselected : std::uint8_t {
    selected,          ///< it is selected
    kind_off,          ///< the owner has no selector for that kind
    other_namespace,   ///< no namespace selector, and not the owner's namespace
    namespace_labels,  ///< the namespace selector does not match
    object_labels,     ///< the selector does not match
};

/// Whether an owner selects a monitor.
Unselected selection(const MonitorOwner&, MonitorKind, std::string_view object_namespace,
                     const MonitorLabels& object_labels, const MonitorLabels& namespace_labels);

/// The parts of a monitor that its jobs are made of.
struct MonitorParts {
    std::string_view object_namespace{};
    std::string_view name{};
    bool is_ending = false;                    ///< it has a deletionTimestamp
    const boost::json::value* spec = nullptr;  ///< null: absent
};

/// Validates a selected monitor and makes its jobs.
/// \param known  the rules of other monitors; null: none
Generation generate(const MonitorOwner&, MonitorKind, const MonitorParts&, const MonitorOptions&,
                    const ReferenceSource&, GeneratedRules* known = nullptr);
/// The same for a monitor as the API server sends it.
Generation generate(const MonitorOwner&, MonitorKind, const boost::json::value& object,
                    const MonitorOptions&, const ReferenceSource&, GeneratedRules* known = nullptr);

/// Whether the owner has scrape configurations besides those of monitors.
bool has_additional(const MonitorOwner&);
/// These configurations, with the rules of sharding: `additionalScrapeConfigs`, then
/// `inlineScrapeConfig`. Refused if one of them is no list in YAML, or the Secret is absent and not
/// optional.
Generation generate_additional(const MonitorOwner&, const MonitorOptions&, const ReferenceSource&);

/// "ServiceMonitor alpha/web".
std::string object_name(MonitorKind, std::string_view object_namespace, std::string_view name);

/// The kind of an object with that `kind`; nullopt for others.
std::optional<MonitorKind> monitor_kind_of(std::string_view kind);

}  // namespace k8s_sd::inline v0::detail
