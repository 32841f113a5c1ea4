#pragma once

#include "k8s_sd/api/namespace.hpp"
#include "k8s_sd/detail/monitors/generation.hpp"
#include "k8s_sd/detail/monitors/job_changes.hpp"
#include "k8s_sd/detail/monitors/job_maker.hpp"
#include "k8s_sd/detail/monitors/namespace_labels.hpp"
#include "k8s_sd/detail/monitors/quota.hpp"
#include "k8s_sd/detail/monitors/relabelings.hpp"
#include "k8s_sd/detail/monitors/watched_references.hpp"
#include "k8s_sd/monitors/monitor_source.hpp"
#include "k8s_sd/objects/data_object.hpp"
#include "k8s_sd/objects/generic.hpp"
#include "k8s_sd/objects/watcher.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// All monitors of a source with their jobs: decides which jobs there are, and which Secrets and
/// ConfigMaps to watch. A change marks monitors; work() makes their jobs anew. No I/O, and no
/// threads: guarded by its owner.
class MonitorTable {
 public:
    explicit MonitorTable(const MonitorSourceConfig&);
    MonitorTable(const MonitorTable&) = delete;  // its parts refer to each other
    MonitorTable& operator=(const MonitorTable&) = delete;

    /// The owner as configured, or as read from the server; nullopt: deleted.
    using OwnerInput = std::optional<std::variant<MonitorOwner, MonitorOwnerDocument>>;

    // --- inputs -------------------------------------------------------------------------------
    void set_owner(OwnerInput);
    void apply(MonitorKind, const ObjectDiff<Generic>&);
    /// Drops all monitors of the kind: it is not watched any more.
    void clear(MonitorKind);
    void apply(const ObjectDiff<api::Namespace>&);
    /// Namespaces are not watched any more.
    void forget_namespaces() noexcept { namespaces_.forget(); }
    /// The state of a watched object. \param value  null: absent
    void set_value(const ReferencedObject&, DataObjectPtr value);
    /// It cannot be read. \param problem  in words
    void set_failure(const ReferencedObject& object, const std::string& problem) {
        references_.set_failure(object, problem);
    }

    // --- work ---------------------------------------------------------------------------------
    bool has_work() const noexcept {
        return !marked_.empty() || references_.has_changed() || quota_.is_due();
    }
    /// Makes the jobs of up to `max` marked monitors. What concerns all monitors is done by calls
    /// without any, so that changed jobs need not wait for it.
    void work(std::size_t max);
    /// Whether a monitor or the owner waits for a Secret or ConfigMap.
    bool waits() const noexcept { return !waiting_.empty(); }

    // --- results ------------------------------------------------------------------------------
    /// nullopt: unknown, or deleted.
    const std::optional<MonitorOwner>& owner() const noexcept { return owner_; }

    /// Whether there is no object to read the owner from.
    bool lacks_owner() const noexcept { return !owner_input_; }

    WatchedReferences::Changes take_watch_changes() { return references_.take_changes(); }
    /// New refusals in words, for the log.
    std::vector<std::string> take_log() { return std::exchange(log_, {}); }

    bool has_news() const noexcept { return jobs_.any(); }
    /// The changes since the last call.
    MonitorDiff take_news() { return jobs_.take(); }

    std::vector<MonitorJobPtr> jobs() const;
    void add_status(MonitorStatus&) const;
    /// Up to `max` of those after a monitor. \param after  nullopt: from the first one
    std::vector<MonitorObjectStatus> objects(const std::optional<MonitorName>& after,
                                             std::size_t max) const;
    std::optional<MonitorObjectStatus> object(MonitorKind, std::string_view ns,
                                              std::string_view name) const;

 private:
    /// Of a monitor: the number of its kind. Of others, without a name, one of these numbers.
    using Key = MonitorKey;
    static constexpr int owner_number = -1;
    static constexpr int additional_number = monitor_kind_count;

    using Job = JobMaker::Made;
    using ValueState = WatchedReferences::State;

    struct Entry {
        std::shared_ptr<const Generic> object;  ///< null: the owner, or its additional jobs
        MonitorState state = MonitorState::waiting;
        MonitorRefusal why;
        std::vector<Job> jobs;
        MonitorReferences references;
        bool is_over_limit = false;                  ///< its references are not admitted
        MonitorQuota needed{.jobs = 0, .bytes = 0};  ///< for its jobs, granted or not
        std::optional<MonitorQuota> granted;         ///< the jobs are not made yet
        bool is_over_quota = false;                  ///< it is valid, but its jobs are dropped
        bool waits_for_quota = false;                ///< it is valid, but has its previous jobs
        /// Valid by itself, whatever values of scrape classes do to its jobs. Were it to depend on
        /// them, a monitor could turn its own class value on and off without end.
        bool loads = false;
    };
    using Entries = std::map<Key, Entry>;

    class Source;

    static Key key_of(MonitorKind, std::string_view ns, std::string_view name);
    void mark_all();
    void mark_complete(const MonitorKeys& users);
    void update(const Key&, Entry&);
    void update_owner(Entry&);
    void use_owner(MonitorOwner);
    void drop_owner();
    void update_additional(const Key&, Entry&);
    void update_monitor(const Key&, Entry&);
    bool set_unselected(const Key&, Entry&);
    std::optional<MonitorRefusal> excess(const Key&, const boost::json::value* spec) const;
    void take(const Key&, Entry&, Generation&&, const Source&);
    std::optional<MonitorRefusal> make_jobs(const Key&, const Entry&,
                                            const std::vector<GeneratedJob>&,
                                            std::vector<Job>& jobs);
    void set_valid(const Key&, Entry&, std::vector<Job>);
    void set(const Key&, Entry&, MonitorState, MonitorRefusal, std::vector<Job>);
    void set_jobs(Entry&, std::vector<Job>);
    static MonitorQuota size_of(const std::vector<Job>&) noexcept;
    void set_needed(const Key&, Entry&, MonitorQuota);
    void set_over_quota(const Key&, Entry&);
    void share_out();
    void remove(Entries::iterator);
    void admit();
    void set_admitted(const Key&, Entry&, bool is_admitted);
    std::string words(const Key&) const;
    MonitorObjectStatus status_of(const Key&, const Entry&) const;

    const MonitorSourceConfig config_;
    OwnerInput owner_input_;
    std::optional<MonitorOwner> owner_;
    GeneratedRules known_rules_;
    JobMaker maker_;
    NamespaceLabels namespaces_;
    Entries entries_;
    MonitorKeys marked_;
    WatchedReferences references_;
    QuotaUse quota_;
    bool put_off_ = false;  ///< admit() or share_out() has waited for changes
    MonitorKeys waiting_;   ///< for a Secret or ConfigMap
    JobChanges jobs_;
    std::vector<std::string> log_;
    std::uint64_t generations_ = 0;
};

}  // namespace k8s_sd::inline v0::detail
