#include "k8s_sd/detail/monitors/job_context.hpp"
#include "k8s_sd/detail/monitors/monitor_table.hpp"
#include "k8s_sd/detail/relabel/pattern.hpp"
#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/error.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <algorithm>
#include <array>
#include <set>
#include <span>

namespace k8s_sd::inline v0::detail {

namespace {

/// The owner's field for a kind: "serviceMonitorSelector".
std::string selector_field(MonitorKind kind, const char* what) {
    constexpr std::array<std::string_view, monitor_kind_count> names{
        "serviceMonitor", "podMonitor", "probe",      "scrapeConfig", "serviceScrape",
        "podScrape",      "probe",      "nodeScrape", "staticScrape", "scrapeConfig"};
    return std::string(names[static_cast<std::size_t>(kind)]) + what;
}

MonitorRefusal words_of(Unselected why, MonitorKind kind, const std::string& ns,
                        const MonitorOwner& owner) {
    const std::string objects = selector_field(kind, "Selector");
    const std::string namespaces = selector_field(kind, "NamespaceSelector");
    switch (why) {
        case Unselected::kind_off:
            return {"the owner has no " + objects, "set it; {} selects all objects"};
        case Unselected::other_namespace:
            return {"it is in the namespace " + ns + ", and without " + namespaces +
                        " the owner selects only in its own, " + owner.owner_namespace,
                    "set " + namespaces + " of the owner; {} selects all namespaces"};
        case Unselected::namespace_labels:
            return {"the labels of the namespace " + ns + " do not match the owner's " + namespaces,
                    "label the namespace, or change " + namespaces};
        case Unselected::object_labels:
            return {"its labels do not match the owner's " + objects,
                    "label the object, or change " + objects};
        case Unselected::selected: break;
    }
    return {};
}

const boost::json::value* member(const boost::json::value* value, std::string_view name) {
    const auto* object = value ? value->if_object() : nullptr;
    return object ? object->if_contains(name) : nullptr;
}

/// The field with a job for each of its elements.
std::string_view endpoints_field(MonitorKind kind) {
    switch (kind) {
        case MonitorKind::pod_monitor:
        case MonitorKind::vm_pod_scrape: return "podMetricsEndpoints";
        case MonitorKind::vm_static_scrape: return "targetEndpoints";
        default: return "endpoints";
    }
}

/// An estimate; bounded by the depth that parsers accept.
std::size_t json_bytes(const boost::json::value& value) {
    if (const auto* text = value.if_string()) return text->size() + 2;
    std::size_t bytes = 8;
    if (const auto* list = value.if_array()) {
        for (const auto& item : *list) bytes += json_bytes(item);
    }
    if (const auto* object = value.if_object()) {
        for (const auto& entry : *object) bytes += entry.key().size() + json_bytes(entry.value());
    }
    return bytes;
}

constexpr std::string_view additional_words = "additionalScrapeConfigs of the owner";

/// Names of jobs that monitors have.
bool is_of_monitor(std::string_view name) {
    const auto begins = [&](MonitorKind kind) { return name.starts_with(job_prefix_of(kind)); };
    return std::any_of(monitor_kinds.begin(), monitor_kinds.end(), begins) ||
           std::any_of(vm_monitor_kinds.begin(), vm_monitor_kinds.end(), begins);
}

}  // namespace

/// The values for one monitor. Records why a value is missing.
class MonitorTable::Source final : public ReferenceSource {
 public:
    Source(const MonitorTable& table, std::size_t bytes) : table_(table), bytes_(bytes) {}

    ReferencedValue find(const MonitorReference& reference) const override {
        using State = ReferencedValue::State;
        const auto* const known = table_.references_.find(object_of(reference));
        if (!known || !known->is_watched || known->state == ValueState::unknown) {
            waits_for_.emplace(object_of(reference));
            return {State::unknown};
        }
        if (known->state == ValueState::failed) {
            note({to_string(object_of(reference)) + " cannot be read: " + known->problem,
                  "grant the permission to list and watch it, see docs/guide/monitors.md"});
            return {State::unknown};
        }
        if (known->state == ValueState::absent) return {State::no_object};
        const auto value = known->value->get(reference.key);
        if (!value) return {State::no_key};
        if (value->size() > table_.config_.limits.value_bytes) {
            note({to_string(object_of(reference)) + ": the value of the key " +
                      printable(reference.key) + " has more than " +
                      std::to_string(table_.config_.limits.value_bytes) + " bytes",
                  "shorten it, or raise MonitorSourceLimits::value_bytes"});
            return {State::no_key};
        }
        if (value->size() > bytes_) {
            note({"its Secrets and ConfigMaps make its jobs larger than " +
                      std::to_string(table_.config_.limits.bytes_per_monitor) + " bytes",
                  "split the object, or raise MonitorSourceLimits::bytes_per_monitor"});
            return {State::unknown};
        }
        bytes_ -= value->size();
        return {State::found, std::string(*value)};
    }

    bool is_loaded(const MonitorReference& reference) const override {
        const auto* const known = table_.references_.find(object_of(reference));
        return known && !known->loaders.empty() && known->state == ValueState::present;
    }

    bool waits() const noexcept { return !waits_for_.empty(); }
    /// The first one.
    std::string waits_for() const { return to_string(*waits_for_.begin()); }
    /// A fault that the generator does not know.
    const std::optional<MonitorRefusal>& fault() const noexcept { return fault_; }

 private:
    void note(MonitorRefusal fault) const {
        if (!fault_) fault_ = std::move(fault);
    }

    const MonitorTable& table_;
    mutable std::size_t bytes_;  ///< still permitted
    mutable std::set<ReferencedObject> waits_for_;
    mutable std::optional<MonitorRefusal> fault_;
};

MonitorTable::MonitorTable(const MonitorSourceConfig& config)
    : config_(config), maker_(config_), references_(marked_), quota_(config_.limits.quota) {}

MonitorTable::Key MonitorTable::key_of(MonitorKind kind, std::string_view ns,
                                       std::string_view name) {
    std::string key(ns);
    return {static_cast<int>(kind), (key += '/') += name};
}

// --- inputs --------------------------------------------------------------------------------------

void MonitorTable::set_owner(OwnerInput input) {
    owner_input_ = std::move(input);
    const Key key{owner_number, {}};
    entries_.try_emplace(key);
    marked_.insert(key);
}

void MonitorTable::apply(MonitorKind kind, const ObjectDiff<Generic>& diff) {
    const auto key_of_object = [&](const Generic& object) {
        return key_of(kind, object.metadata.namespace_, object.metadata.name);
    };
    const auto put = [&](const std::shared_ptr<const Generic>& object) {
        const Key key = key_of_object(*object);
        entries_[key].object = object;
        marked_.insert(key);
    };
    if (diff.full) {
        std::set<Key> present;
        for (const auto& object : diff.added) present.insert(key_of_object(*object));
        const int number = static_cast<int>(kind);
        for (auto it = entries_.lower_bound({number, {}});
             it != entries_.end() && it->first.kind == number;) {
            const auto entry = it++;
            if (!present.contains(entry->first)) remove(entry);
        }
    }
    std::set<Key> added;
    for (const auto& object : diff.added) added.insert(key_of_object(*object));
    for (const auto& object : diff.removed) {
        const Key key = key_of_object(*object);
        const auto entry = entries_.find(key);
        if (entry != entries_.end() && !added.contains(key)) remove(entry);
    }
    for (const auto& object : diff.added) put(object);
    for (const auto& [before, after] : diff.changed) put(after);
}

void MonitorTable::clear(MonitorKind kind) {
    ObjectDiff<Generic> nothing;
    nothing.full = true;
    apply(kind, nothing);
}

void MonitorTable::apply(const ObjectDiff<api::Namespace>& diff) {
    const bool were_listed = namespaces_.are_listed();
    const NamespaceLabels::Names changed = namespaces_.apply(diff);
    for (int number = 0; number < additional_number; ++number) {
        for (const std::string& ns : changed) {
            const std::string prefix = ns + "/";
            for (auto it = entries_.lower_bound({number, prefix});
                 it != entries_.end() && it->first.kind == number &&
                 it->first.name.starts_with(prefix);
                 ++it) {
                marked_.insert(it->first);
            }
        }
    }
    if (!were_listed) mark_all();
}

void MonitorTable::set_value(const ReferencedObject& object, DataObjectPtr value) {
    const auto* const reference = references_.set_value(object, std::move(value));
    if (reference) mark_complete(reference->users);
}

/// Except those that still wait for another value: one monitor may name a thousand Secrets, which
/// arrive one by one.
void MonitorTable::mark_complete(const MonitorKeys& users) {
    for (const Key& key : users) {
        const auto found = entries_.find(key);
        if (found == entries_.end()) continue;
        Entry& entry = found->second;
        if (entry.state != MonitorState::waiting || !references_.lacks_any(entry.references)) {
            marked_.insert(key);
        }
    }
}

void MonitorTable::mark_all() {
    for (const auto& [key, entry] : entries_) {
        if (key.kind != owner_number) marked_.insert(key);
    }
}

// --- work ----------------------------------------------------------------------------------------

void MonitorTable::work(std::size_t max) {
    const bool is_due = marked_.empty() || put_off_;
    for (; max > 0 && !marked_.empty(); --max) {
        // The owner comes first.
        const Key key = marked_.extract(marked_.begin()).value();
        const auto entry = entries_.find(key);
        if (entry != entries_.end()) update(key, entry->second);
    }
    // Both iterate over all monitors, so once after the last of many changes, and after a host has
    // received these. New changes put them off once only.
    const bool is_next = is_due && marked_.empty();
    put_off_ = !is_next && (references_.has_changed() || quota_.is_due());
    if (!is_next) return;
    if (references_.has_changed()) return admit();
    if (quota_.is_due()) share_out();
}

void MonitorTable::update(const Key& key, Entry& entry) {
    if (key.kind == owner_number) return update_owner(entry);
    if (!owner_) {
        entry.loads = false;
        references_.replace(key, entry.references, {}, {});
        return set(key, entry, MonitorState::waiting, {"there is no owner", ""}, {});
    }
    if (key.kind == additional_number) return update_additional(key, entry);
    update_monitor(key, entry);
}

void MonitorTable::update_owner(Entry& entry) {
    const Key key{owner_number, {}};
    if (!owner_input_) {
        references_.replace(key, entry.references, {}, {});
        set(key, entry, MonitorState::refused, {"there is no such object", ""}, {});
        return drop_owner();
    }
    const Source source(*this, config_.limits.bytes_per_monitor);
    OwnerReading reading;
    if (const auto* document = std::get_if<MonitorOwnerDocument>(&*owner_input_)) {
        reading =
            read_owner(document->object, document->default_namespace, config_.options, source);
    } else {
        reading = check_owner(std::get<MonitorOwner>(*owner_input_), config_.options, source);
    }
    std::set<ReferencedObject> references;
    for (const MonitorReference& reference : reading.references) {
        references.insert(object_of(reference));
    }
    references_.replace(key, entry.references, std::move(references), {});
    if (source.fault()) return set(key, entry, MonitorState::refused, *source.fault(), {});
    if (source.waits()) {
        return set(key, entry, MonitorState::waiting,
                   {source.waits_for() + " has not been read yet", ""}, {});
    }
    if (!reading.owner) {
        return set(key, entry, MonitorState::refused,
                   reading.refusal.value_or(MonitorRefusal{"it is invalid", ""}), {});
    }
    reading.owner->deny_file_access |= config_.deny_file_access;
    try {
        use_owner(std::move(*reading.owner));
        set(key, entry, MonitorState::accepted, {}, {});
    } catch (const ConfigError& e) {
        set(key, entry, MonitorState::refused, {e.problem(), "change the owner's object"}, {});
    }
}

void MonitorTable::use_owner(MonitorOwner owner) {
    if (owner_ && *owner_ == owner) return;
    maker_.set_owner(owner);
    owner_ = std::move(owner);
    entries_.try_emplace(Key{additional_number, {}});
    mark_all();
}

void MonitorTable::drop_owner() {
    if (!owner_) return;
    owner_.reset();
    mark_all();
}

void MonitorTable::update_additional(const Key& key, Entry& entry) {
    const Source source(*this, config_.limits.bytes_per_monitor);
    if (!has_additional(*owner_)) {
        references_.replace(key, entry.references, {}, {});
        return set(key, entry, MonitorState::accepted, {}, {});
    }
    ++generations_;
    take(key, entry, generate_additional(*owner_, config_.options, source), source);
}

bool MonitorTable::set_unselected(const Key& key, Entry& entry) {
    const auto kind = static_cast<MonitorKind>(key.kind);
    const std::string ns(entry.object->metadata.namespace_);
    const auto is_listed = [&](const std::vector<std::string>& names) {
        return std::find(names.begin(), names.end(), ns) != names.end();
    };
    MonitorRefusal why;
    if (is_listed(config_.deny_namespaces) ||
        (!config_.allow_namespaces.empty() && !is_listed(config_.allow_namespaces))) {
        why = {"the configuration does not permit the namespace " + ns,
               "change allow_namespaces or deny_namespaces"};
    } else {
        const MonitorLabels no_labels;
        const MonitorLabels* const known = namespaces_.find(ns);
        const auto& wanted = owner_->selections[static_cast<std::size_t>(kind)];
        const bool needs_labels = wanted.namespaces && !wanted.namespaces->empty();
        Unselected selected = selection(*owner_, kind, ns, labels_of(entry.object->metadata.labels),
                                        known ? *known : no_labels);
        // NotIn and DoesNotExist match a namespace that is gone, too.
        if (selected == Unselected::selected && needs_labels && !known) {
            selected = Unselected::namespace_labels;
        }
        if (selected == Unselected::selected) return false;
        // Only the namespace is in doubt: the previous jobs stay.
        if (selected == Unselected::namespace_labels && !namespaces_.are_listed()) {
            set(key, entry, MonitorState::waiting,
                {"the namespaces have not been listed yet", "allow to list and watch namespaces"},
                entry.jobs);
            return true;
        }
        why = words_of(selected, kind, printable(ns), *owner_);
    }
    entry.loads = false;
    references_.replace(key, entry.references, {}, {});
    set(key, entry, MonitorState::unselected, std::move(why), {});
    return true;
}

/// A fault of a monitor whose jobs would be too large.
std::optional<MonitorRefusal> MonitorTable::excess(const Key& key,
                                                   const boost::json::value* spec) const {
    const MonitorSourceLimits& limits = config_.limits;
    const boost::json::value* const endpoints =
        member(spec, endpoints_field(static_cast<MonitorKind>(key.kind)));
    const std::size_t count =
        endpoints && endpoints->is_array() ? endpoints->get_array().size() : 1;
    if (count > limits.jobs_per_monitor) {
        return MonitorRefusal{"it has " + std::to_string(count) + " endpoints; at most " +
                                  std::to_string(limits.jobs_per_monitor) + " are allowed",
                              "split the object, or raise MonitorSourceLimits::jobs_per_monitor"};
    }
    const std::size_t of_endpoints = endpoints ? json_bytes(*endpoints) : 0;
    const std::size_t all = spec ? json_bytes(*spec) : 0;
    const std::size_t common = all - std::min(all, of_endpoints);
    if (common * std::max<std::size_t>(count, 1) + of_endpoints <= limits.bytes_per_monitor) {
        return std::nullopt;
    }
    return MonitorRefusal{"its jobs would have more than " +
                              std::to_string(limits.bytes_per_monitor) + " bytes",
                          "split the object, or raise MonitorSourceLimits::bytes_per_monitor"};
}

void MonitorTable::update_monitor(const Key& key, Entry& entry) {
    if (set_unselected(key, entry)) return;
    const boost::json::object& content = entry.object->content;
    const boost::json::value* const spec = content.if_contains("spec");
    if (auto fault = excess(key, spec)) {
        entry.loads = false;
        references_.replace(key, entry.references, {}, {});
        return set(key, entry, MonitorState::refused, std::move(*fault), {});
    }
    const api::ObjectMeta& metadata = entry.object->metadata;
    const MonitorParts parts{.object_namespace = metadata.namespace_,
                             .name = metadata.name,
                             .is_ending = metadata.deletion_timestamp.has_value(),
                             .spec = spec};
    const Source source(*this, config_.limits.bytes_per_monitor);
    ++generations_;
    take(key, entry,
         generate(*owner_, static_cast<MonitorKind>(key.kind), parts, config_.options, source,
                  &known_rules_),
         source);
}

void MonitorTable::take(const Key& key, Entry& entry, Generation&& made, const Source& source) {
    entry.loads = false;
    std::set<ReferencedObject> direct;
    std::set<ReferencedObject> of_classes;
    for (const MonitorReference& r : made.references) direct.insert(object_of(r));
    for (const MonitorReference& r : made.class_references) of_classes.insert(object_of(r));
    const std::size_t count = direct.size();
    const std::size_t max = config_.limits.references_per_monitor;
    const bool too_many = count > max;
    if (too_many) direct.clear();
    references_.replace(key, entry.references, std::move(direct), std::move(of_classes));
    if (too_many) {
        return set(key, entry, MonitorState::refused,
                   {"it names more than " + std::to_string(max) + " Secrets and ConfigMaps",
                    "split the object, or raise MonitorSourceLimits::references_per_monitor"},
                   {});
    }
    if (entry.is_over_limit) {
        references_.set_changed();  // admit() decides
        return set(key, entry, MonitorState::refused, entry.why, {});
    }
    if (source.fault()) {
        entry.loads = true;  // the fault may be in the value of a scrape class
        return set(key, entry, MonitorState::refused, *source.fault(), {});
    }
    if (source.waits()) {
        return set(key, entry, MonitorState::waiting,
                   {source.waits_for() + " has not been read yet", ""}, entry.jobs);
    }
    // As above: values of scrape classes can make the jobs too large, or unusable.
    entry.loads = !made.refusal || made.is_too_large;
    std::vector<Job> jobs;
    if (!made.refusal) made.refusal = make_jobs(key, entry, made.jobs, jobs);
    if (made.refusal) return set(key, entry, MonitorState::refused, std::move(*made.refusal), {});
    set_valid(key, entry, std::move(jobs));
}

/// Jobs with an unchanged configuration stay.
std::optional<MonitorRefusal> MonitorTable::make_jobs(const Key& key, const Entry& entry,
                                                      const std::vector<GeneratedJob>& generated,
                                                      std::vector<Job>& jobs) {
    const std::string object = words(key);
    std::set<std::string_view> names;
    // It keeps patterns while the jobs are made: jobs of one monitor repeat them.
    const bool is_of_owner = key.kind == additional_number;
    PatternBudget patterns(is_of_owner ? RelabelLimits() : monitor_pattern_limits());
    for (const GeneratedJob& job : generated) {
        if (is_of_owner && (is_of_monitor(job.origin) || !names.insert(job.origin).second)) {
            return MonitorRefusal{"job_name " + printable(job.origin) +
                                      " is that of another job, or reserved for one",
                                  "rename it"};
        }
        try {
            jobs.push_back(maker_.make(object, job, entry.jobs, patterns));
        } catch (const ConfigError& e) {
            return MonitorRefusal{"the job " + job.origin + " is unusable: " + e.problem(),
                                  "change what " + e.where() + " comes from"};
        }
    }
    return std::nullopt;
}

/// A valid monitor has its jobs if the quota suffices for them.
void MonitorTable::set_valid(const Key& key, Entry& entry, std::vector<Job> jobs) {
    const MonitorQuota needed = size_of(jobs);
    const bool is_granted = std::exchange(entry.granted, std::nullopt) == needed;
    const bool has_room = !entry.is_over_quota && quota_.has_room(size_of(entry.jobs), needed);
    if (is_granted || has_room || key.kind == additional_number) {
        return set(key, entry, MonitorState::accepted, {}, std::move(jobs));
    }
    set_needed(key, entry, needed);
    if (entry.is_over_quota) return;
    // share_out() decides. Until then its present jobs stay, for they may have to stay.
    entry.waits_for_quota = true;
    quota_.set_due(true);
}

void MonitorTable::set(const Key& key, Entry& entry, MonitorState state, MonitorRefusal why,
                       std::vector<Job> jobs) {
    if (state == MonitorState::refused && !(entry.state == state && entry.why == why)) {
        std::string line = words(key) + " is refused: " + why.reason;
        if (!why.remedy.empty()) line += "; " + why.remedy;
        log_.push_back(std::move(line));
    }
    if (state == MonitorState::waiting && (owner_ || key.kind == owner_number)) {
        waiting_.insert(key);
    } else {
        waiting_.erase(key);
    }
    entry.is_over_quota = entry.waits_for_quota = false;
    set_needed(key, entry, size_of(jobs));
    entry.state = state;
    entry.why = std::move(why);
    set_jobs(entry, std::move(jobs));
    references_.set_loading(key, entry.references, entry.loads && key.kind != owner_number);
}

void MonitorTable::set_jobs(Entry& entry, std::vector<Job> jobs) {
    for (const Job& before : entry.jobs) {
        const std::string& name = before.job->origin;
        const auto stays = [&](const Job& job) { return job.job->origin == name; };
        if (std::any_of(jobs.begin(), jobs.end(), stays)) continue;
        jobs_.remove(name);
    }
    for (const Job& job : jobs) jobs_.put(job.job);
    // Those of the owner do not count for the quota of monitors.
    if (entry.object) quota_.replace_used(size_of(entry.jobs), size_of(jobs));
    entry.jobs = std::move(jobs);
}

// --- quota ---------------------------------------------------------------------------------------

MonitorQuota MonitorTable::size_of(const std::vector<Job>& jobs) noexcept {
    MonitorQuota size{.jobs = jobs.size(), .bytes = 0};
    for (const Job& job : jobs) size.bytes += job.bytes;
    return size;
}

void MonitorTable::set_needed(const Key& key, Entry& entry, MonitorQuota needed) {
    if (entry.needed == needed || key.kind == additional_number) return;
    quota_.replace_needed(entry.needed, needed);
    entry.needed = needed;
}

void MonitorTable::set_over_quota(const Key& key, Entry& entry) {
    const MonitorQuota needed = entry.needed;
    set(key, entry, MonitorState::refused, over_quota(config_.limits.quota), {});
    entry.is_over_quota = true;
    entry.granted.reset();
    set_needed(key, entry, needed);
}

/// Decides which valid monitors have their jobs. The result depends on the present monitors only,
/// not on the order of changes, see share_quota().
void MonitorTable::share_out() {
    std::vector<QuotaRequest> requests;
    for (const auto& [key, entry] : entries_) {
        const std::string_view name = key.name;
        requests.push_back({name.substr(0, name.find('/')), entry.needed});
    }
    const std::vector<bool> granted = quota_.suffices()
                                          ? std::vector<bool>(requests.size(), true)
                                          : share_quota(requests, config_.limits.quota);
    std::size_t i = 0;
    for (auto& [key, entry] : entries_) {
        const bool is_granted = granted[i++];
        if (!is_granted && !entry.is_over_quota) set_over_quota(key, entry);
        if (!is_granted || !(entry.is_over_quota || entry.waits_for_quota)) continue;
        entry.is_over_quota = entry.waits_for_quota = false;
        entry.granted = entry.needed;
        marked_.insert(key);
    }
    quota_.set_due(false);
}

// --- references ----------------------------------------------------------------------------------

/// Decides which references are watched, see admit_references().
void MonitorTable::admit() {
    const std::size_t max = config_.limits.references;
    const bool suffices = references_.begin_admission() <= max;
    if (suffices && !references_.is_limited()) return references_.watch_all();
    std::vector<Entries::iterator> entries;
    std::vector<ReferenceRequest> requests;
    for (auto it = entries_.begin(); it != entries_.end(); ++it) {
        const auto& [key, entry] = *it;
        if (entry.references.direct.empty() && !entry.is_over_limit) continue;
        entries.push_back(it);
        const std::string_view ns = std::string_view(key.name).substr(0, key.name.find('/'));
        requests.push_back({ns, &entry.references.direct});
    }
    const std::vector<bool> admitted = admit_references(requests, max);
    std::set<ReferencedObject> watched;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        set_admitted(entries[i]->first, entries[i]->second, admitted[i]);
        if (admitted[i])
            watched.insert(requests[i].references->begin(), requests[i].references->end());
    }
    references_.watch_only(watched);
}

void MonitorTable::set_admitted(const Key& key, Entry& entry, bool is_admitted) {
    if (is_admitted) {
        if (std::exchange(entry.is_over_limit, false)) marked_.insert(key);
        return;
    }
    entry.is_over_limit = true;
    entry.loads = false;
    set(key, entry, MonitorState::refused,
        {"more than " + std::to_string(config_.limits.references) +
             " Secrets and ConfigMaps are named by monitors, and this one is beyond the share of "
             "its namespace",
         "remove monitors of the namespace, or raise MonitorSourceLimits::references"},
        {});
}

void MonitorTable::remove(Entries::iterator it) {
    const Key key = it->first;
    Entry& entry = it->second;
    entry.loads = false;
    set(key, entry, MonitorState::unselected, {}, {});
    references_.replace(key, entry.references, {}, {});
    marked_.erase(key);
    waiting_.erase(key);
    entries_.erase(it);
}

// --- results -------------------------------------------------------------------------------------

std::vector<MonitorJobPtr> MonitorTable::jobs() const {
    std::vector<MonitorJobPtr> jobs;
    if (!owner_) return jobs;
    const auto add = [&](int kind) {
        for (auto it = entries_.lower_bound({kind, {}});
             it != entries_.end() && it->first.kind == kind; ++it) {
            for (const Job& job : it->second.jobs) jobs.push_back(job.job);
        }
    };
    constexpr std::array<int, 5> of_prometheus{0, 1, 2, 3, additional_number};
    constexpr std::array<int, 5> of_agent{1, additional_number, 0, 2, 3};
    constexpr std::array<int, 7> of_vm{4, 5, 6, 7, 8, 9, additional_number};
    std::span<const int> order = owner_->is_agent ? of_agent : of_prometheus;
    if (owner_->vm) order = of_vm;
    for (const int kind : order) add(kind);
    return jobs;
}

std::string MonitorTable::words(const Key& key) const {
    if (key.kind == owner_number) return "the owner";
    if (key.kind == additional_number) return std::string(additional_words);
    const std::size_t slash = key.name.find('/');
    return object_name(static_cast<MonitorKind>(key.kind),
                       printable(std::string_view(key.name).substr(0, slash)),
                       printable(std::string_view(key.name).substr(slash + 1)));
}

MonitorObjectStatus MonitorTable::status_of(const Key& key, const Entry& entry) const {
    const std::size_t slash = key.name.find('/');
    return {static_cast<MonitorKind>(key.kind),
            key.name.substr(0, slash),
            key.name.substr(slash + 1),
            entry.state,
            entry.why,
            entry.jobs.size()};
}

void MonitorTable::add_status(MonitorStatus& status) const {
    status.has_owner = owner_.has_value();
    status.of_vm = owner_ && owner_->vm;
    status.jobs = jobs_.count();
    status.bytes = quota_.used().bytes;
    status.generations = generations_;
    status.job_changes = jobs_.taken();
    status.references = references_.watched_count();
    for (const auto& [key, entry] : entries_) {
        if (key.kind == owner_number) {
            status.owner = entry.why;
        } else if (key.kind == additional_number) {
            status.additional = entry.why;
        } else {
            MonitorKindStatus& kind = status.kinds[static_cast<std::size_t>(key.kind)];
            ++kind.objects;
            kind.accepted += entry.state == MonitorState::accepted;
            kind.refused += entry.state == MonitorState::refused;
            kind.unselected += entry.state == MonitorState::unselected;
            kind.waiting += entry.state == MonitorState::waiting;
        }
    }
}

std::vector<MonitorObjectStatus> MonitorTable::objects(const std::optional<MonitorName>& after,
                                                       std::size_t max) const {
    std::vector<MonitorObjectStatus> objects;
    auto entry = entries_.begin();
    if (after)
        entry = entries_.upper_bound(key_of(after->kind, after->object_namespace, after->name));
    for (; entry != entries_.end() && objects.size() < max; ++entry) {
        if (entry->second.object) objects.push_back(status_of(entry->first, entry->second));
    }
    return objects;
}

std::optional<MonitorObjectStatus> MonitorTable::object(MonitorKind kind, std::string_view ns,
                                                        std::string_view name) const {
    const auto found = entries_.find(key_of(kind, ns, name));
    if (found == entries_.end()) return std::nullopt;
    return status_of(found->first, found->second);
}

}  // namespace k8s_sd::inline v0::detail
