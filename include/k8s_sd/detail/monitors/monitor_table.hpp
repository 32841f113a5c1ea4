#pragma once

#include "k8s_sd/api/namespace.hpp"
#include "k8s_sd/detail/monitors/generation.hpp"
#include "k8s_sd/detail/monitors/quota.hpp"
#include "k8s_sd/detail/monitors/references.hpp"
#include "k8s_sd/detail/monitors/relabelings.hpp"
#include "k8s_sd/detail/relabel/relabel_rule.hpp"
#include "k8s_sd/detail/scrape/known_parts.hpp"
#include "k8s_sd/detail/scrape/scrape_job_reader.hpp"
#include "k8s_sd/monitors/monitor_source.hpp"
#include "k8s_sd/objects/data_object.hpp"
#include "k8s_sd/objects/generic.hpp"
#include "k8s_sd/objects/watcher.hpp"

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
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

/// All monitors of a source with their jobs: decides which jobs there are, and which Secrets and
/// ConfigMaps to watch. A change marks monitors; work() makes their jobs anew. No I/O, and no
/// threads: guarded by its owner.
class MonitorTable {
 public:
    explicit MonitorTable(const MonitorSourceConfig&);

    /// The owner as configured, or as read from the server; nullopt: deleted.
    using OwnerInput = std::optional<std::variant<MonitorOwner, MonitorOwnerDocument>>;

    // --- inputs -------------------------------------------------------------------------------
    void set_owner(OwnerInput);
    void apply(MonitorKind, const ObjectDiff<Generic>&);
    /// Drops all monitors of the kind: it is not watched any more.
    void clear(MonitorKind);
    void apply(const ObjectDiff<api::Namespace>&);
    /// Namespaces are not watched any more.
    void forget_namespaces();
    /// The state of a watched object. \param value  null: absent
    void set_value(const ReferencedObject&, DataObjectPtr value);
    /// It cannot be read. \param problem  in words
    void set_failure(const ReferencedObject&, const std::string& problem);

    // --- work ---------------------------------------------------------------------------------
    bool has_work() const noexcept {
        return !marked_.empty() || references_changed_ || quota_changed_;
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

    /// Objects to watch from now on, and objects not to watch any more.
    struct WatchChanges {
        std::vector<ReferencedObject> begin;
        std::vector<ReferencedObject> end;
    };
    WatchChanges take_watch_changes() { return std::exchange(watch_changes_, {}); }
    /// New refusals in words, for the log.
    std::vector<std::string> take_log() { return std::exchange(log_, {}); }

    bool has_news() const noexcept { return !changed_jobs_.empty(); }
    /// The changes since the last call.
    MonitorDiff take_news();

    std::vector<MonitorJobPtr> jobs() const;
    void add_status(MonitorStatus&) const;
    /// Up to `max` of those after a monitor. \param after  nullopt: from the first one
    std::vector<MonitorObjectStatus> objects(const std::optional<MonitorName>& after,
                                             std::size_t max) const;
    std::optional<MonitorObjectStatus> object(MonitorKind, std::string_view ns,
                                              std::string_view name) const;

 private:
    /// The kind's number, "namespace/name"; or one of the numbers below, and "".
    struct Key {
        int kind = 0;
        std::string name{};
        auto operator<=>(const Key&) const = default;
    };
    static constexpr int owner_number = -1;
    static constexpr int additional_number = monitor_kind_count;

    struct Job {
        MonitorJobPtr job{};
        std::size_t bytes = 0;
        std::vector<SharedRulePtr> rules{};  ///< its own, for the host, which compiles the same
    };

    struct Entry {
        std::shared_ptr<const Generic> object;  ///< null: the owner, or its additional jobs
        MonitorState state = MonitorState::waiting;
        MonitorRefusal why;
        std::vector<Job> jobs;
        std::set<ReferencedObject> references;
        std::set<ReferencedObject> class_references;
        ReferencedObject waits_for;                  ///< one of them, see still_waits()
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

    enum class ValueState : std::uint8_t { unknown, failed, absent, present };
    struct Reference {
        bool watched = false;
        ValueState state = ValueState::unknown;
        DataObjectPtr value;
        std::string problem;
        std::set<Key> users;        ///< monitors that request one of its keys
        std::set<Key> loaders;      ///< valid ones of these, see Entry::loads
        std::set<Key> class_users;  ///< monitors with a scrape class that names it
        bool needed() const noexcept { return !users.empty() || !class_users.empty(); }
    };

    class Source;

    using MadeRules = MadeParts<RelabelRule, SharedRule>;
    using MadeDiscoveries = MadeParts<DiscoveryConfig, DiscoveryConfig>;

    static Key key_of(MonitorKind, std::string_view ns, std::string_view name);
    void mark_all();
    void mark(const std::set<Key>& users);
    void mark_complete(const std::set<Key>& users);
    bool still_waits(Entry&) const;
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
    Job make_job(const std::string& object, const GeneratedJob&, const Entry&, PatternBudget&);
    void adapt(DiscoveryConfig&) const;
    SharedList<DiscoveryConfig> adapted(const SharedList<DiscoveryConfig>&);
    RelabelRulePtr adapted(const RelabelRulePtr&) const;
    std::vector<SharedRulePtr> make_rules(ScrapeConfig&, PatternBudget&);
    void set_valid(const Key&, Entry&, std::vector<Job>);
    void set(const Key&, Entry&, MonitorState, MonitorRefusal, std::vector<Job>);
    void set_jobs(Entry&, std::vector<Job>);
    static MonitorQuota size_of(const std::vector<Job>&) noexcept;
    void set_needed(const Key&, Entry&, MonitorQuota);
    void set_over_quota(const Key&, Entry&);
    void share_out();
    void set_references(const Key&, Entry&, std::set<ReferencedObject> direct,
                        std::set<ReferencedObject> of_classes);
    void set_loader(const Key&, const Entry&);
    void set_loaded(const Key&, Reference&, bool loads);
    void remove(Entries::iterator);
    void admit();
    void watch(const ReferencedObject&, Reference&, bool on);
    std::string words(const Key&) const;
    MonitorObjectStatus status_of(const Key&, const Entry&) const;

    const MonitorSourceConfig config_;
    OwnerInput owner_input_;
    std::optional<MonitorOwner> owner_;
    std::optional<ScrapeJobReader> reader_;
    GeneratedRules known_rules_;
    MadeDiscoveries discoveries_{64};
    MadeRules target_rules_{128};
    MadeRules metric_rules_{128};
    std::string global_text_;       ///< of the owner
    bool is_reader_of_vm_ = false;  ///< its dialect
    std::map<std::string, MonitorLabels, std::less<>> namespaces_;
    bool namespaces_known_ = false;
    Entries entries_;
    std::set<Key> marked_;
    std::map<ReferencedObject, Reference> references_;
    bool references_changed_ = false;
    bool some_over_limit_ = false;
    MonitorQuota needed_{.jobs = 0, .bytes = 0};  ///< for the jobs of all valid monitors
    MonitorQuota used_{.jobs = 0, .bytes = 0};    ///< by the present jobs
    bool quota_changed_ = false;
    /// admit() or share_out() has waited for changes.
    bool put_off_ = false;
    std::set<Key> waiting_;                                        ///< for a Secret or ConfigMap
    std::map<std::string, MonitorJobPtr, std::less<>> current_;    ///< by the job's name
    std::map<std::string, MonitorJobPtr, std::less<>> delivered_;  ///< the same
    std::set<std::string> changed_jobs_;  ///< possibly different from `delivered_`
    bool is_delivered_ = false;
    WatchChanges watch_changes_;
    std::vector<std::string> log_;
    std::uint64_t generations_ = 0;
    std::uint64_t job_changes_ = 0;
};

}  // namespace k8s_sd::inline v0::detail
