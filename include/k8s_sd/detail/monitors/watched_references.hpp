#pragma once

#include "k8s_sd/detail/monitors/references.hpp"
#include "k8s_sd/objects/data_object.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// A Secret or ConfigMap.
struct ReferencedObject {
    MonitorReference::Kind kind = MonitorReference::Kind::secret;
    std::string ns{};
    std::string name{};
    auto operator<=>(const ReferencedObject&) const = default;
};

inline ReferencedObject object_of(const MonitorReference& reference) {
    return {reference.kind, reference.object_namespace, reference.name};
}

/// "Secret ns/name".
std::string to_string(const ReferencedObject&);

/// What jobs are made of: a monitor, or the owner.
struct MonitorKey {
    int kind = 0;
    std::string name{};  ///< "namespace/name"
    auto operator<=>(const MonitorKey&) const = default;
};
using MonitorKeys = std::set<MonitorKey>;

/// The references of one monitor.
struct MonitorReferences {
    std::set<ReferencedObject> direct{};
    std::set<ReferencedObject> of_classes{};  ///< of its scrape class
    ReferencedObject waits_for{};             ///< one of them, see WatchedReferences::lacks_any()
};

/// The Secrets and ConfigMaps that monitors reference: their users, their values, and which of them
/// to watch.
class WatchedReferences {
 public:
    enum class State : std::uint8_t { unknown, failed, absent, present };
    struct Reference {
        bool is_watched = false;
        State state = State::unknown;
        DataObjectPtr value{};
        std::string problem{};      ///< why it cannot be read
        MonitorKeys users{};        ///< monitors that request one of its keys
        MonitorKeys loaders{};      ///< valid ones of these, see ReferenceSource::is_loaded()
        MonitorKeys class_users{};  ///< monitors with a scrape class that names it
    };

    /// \param marked  receives the monitors that depend on what changes here
    explicit WatchedReferences(MonitorKeys& marked) : marked_(marked) {}

    /// \returns null if no monitor references it
    const Reference* find(const ReferencedObject&) const;
    /// Whether one of the values for the monitor has not been read yet.
    bool lacks_any(MonitorReferences&) const;
    /// Number of watched objects.
    std::size_t watched_count() const noexcept;

    // --- values -------------------------------------------------------------------------------
    /// Marks monitors with a scrape class that names the object. The caller decides about its
    /// users, which may wait for other values.
    /// \param value  null: absent
    /// \returns null if no monitor references it
    const Reference* set_value(const ReferencedObject&, DataObjectPtr value);
    void set_failure(const ReferencedObject&, const std::string& problem);

    // --- users --------------------------------------------------------------------------------
    /// Replaces the references of a monitor.
    void replace(const MonitorKey&, MonitorReferences&, std::set<ReferencedObject> direct,
                 std::set<ReferencedObject> of_classes);
    /// Whether the monitor is valid by itself, so that its direct references are loaded.
    void set_loading(const MonitorKey&, const MonitorReferences&, bool loads);

    // --- watches ------------------------------------------------------------------------------
    /// Whether there are other references than before, so that admission is due.
    bool has_changed() const noexcept { return has_changed_; }
    /// The same, because of a monitor without its references.
    void set_changed() noexcept { has_changed_ = true; }
    /// Ends the watches of objects that no monitor references directly.
    /// \returns the number of the others
    std::size_t begin_admission();
    /// Watches all objects with direct references.
    void watch_all();
    /// Watches only these.
    void watch_only(const std::set<ReferencedObject>&);
    /// Whether that left out an object with direct references.
    bool is_limited() const noexcept { return is_limited_; }

    /// Objects to watch from now on, and objects not to watch any more.
    struct Changes {
        std::vector<ReferencedObject> begin;
        std::vector<ReferencedObject> end;
    };
    Changes take_changes() { return std::exchange(changes_, {}); }

 private:
    void set_loaded(const MonitorKey&, Reference&, bool loads);
    void watch(const ReferencedObject&, Reference&, bool on);

    MonitorKeys& marked_;
    std::map<ReferencedObject, Reference> references_;
    bool has_changed_ = false;
    bool is_limited_ = false;
    Changes changes_;
};

/// A monitor that requests all its references to be watched.
struct ReferenceRequest {
    std::string_view ns{};  ///< of the monitor; empty: the owner, which comes first
    const std::set<ReferencedObject>* references = nullptr;
};

/// Whether each monitor is admitted, with all its references: no more than `max` different objects
/// are watched. Namespaces get fair shares, see grant_fairly(), so that the result depends on the
/// present monitors only.
std::vector<bool> admit_references(const std::vector<ReferenceRequest>&, std::size_t max);

}  // namespace k8s_sd::inline v0::detail
