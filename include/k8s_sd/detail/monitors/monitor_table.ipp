#include "k8s_sd/detail/labels/label_block.hpp"
#include "k8s_sd/detail/monitors/job_context.hpp"
#include "k8s_sd/detail/monitors/monitor_table.hpp"
#include "k8s_sd/detail/relabel/pattern.hpp"
#include "k8s_sd/detail/relabel/relabel_rule.hpp"
#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/relabel/relabeler.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <algorithm>
#include <exception>
#include <functional>
#include <span>
#include <variant>

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

MonitorLabels labels_of(const api::StringMap& map) {
    MonitorLabels labels;
    for (const auto& [name, value] : map) labels.insert_or_assign(std::string(name), value);
    return labels;
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

/// Roughly the memory of the compiled rules, without their patterns for RE2.
std::size_t bytes_of_compiled(const ScrapeConfig& config) {
    constexpr std::size_t per_rule = 1024;
    constexpr std::size_t per_byte = 16;  // of a selector: of many short conditions
    std::size_t bytes = 0;
    for (const auto* rules : {&config.relabel_configs, &config.metric_relabel_configs}) {
        bytes += rules->size() * per_rule;
        for (const RelabelRule& rule : *rules) {
            for (const std::string& selector : rule.if_)
                bytes += per_rule + per_byte * selector.size();
        }
    }
    return bytes;
}

void replace_all(std::string& text, std::string_view what, std::string_view value) {
    for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at)) {
        text.replace(at, what.size(), value);
        at += value.size();
    }
}

/// Whether the job reads credentials or TLS material from files.
bool names_files(const ScrapeClient& client) {
    const auto is_set = [](const std::string& file) { return !file.empty(); };
    return is_set(client.auth.bearer_token_file) || is_set(client.tls.ca_file) ||
           is_set(client.tls.cert_file) || is_set(client.tls.key_file);
}

constexpr std::string_view additional_words = "additionalScrapeConfigs of the owner";

/// Names of jobs that monitors have.
bool is_of_monitor(std::string_view name) {
    const auto begins = [&](MonitorKind kind) { return name.starts_with(job_prefix_of(kind)); };
    return std::any_of(monitor_kinds.begin(), monitor_kinds.end(), begins) ||
           std::any_of(vm_monitor_kinds.begin(), vm_monitor_kinds.end(), begins);
}

}  // namespace

std::string to_string(const ReferencedObject& object) {
    const bool is_secret = object.kind == MonitorReference::Kind::secret;
    return (is_secret ? "Secret " : "ConfigMap ") + printable(object.ns) + "/" +
           printable(object.name);
}

/// The values for one monitor. Records why a value is missing.
class MonitorTable::Source final : public ReferenceSource {
 public:
    Source(const MonitorTable& table, std::size_t bytes) : table_(table), bytes_(bytes) {}

    ReferencedValue find(const MonitorReference& reference) const override {
        using State = ReferencedValue::State;
        const auto found = table_.references_.find(object_of(reference));
        if (found == table_.references_.end() || !found->second.watched ||
            found->second.state == ValueState::unknown) {
            waits_for_.emplace(object_of(reference));
            return {State::unknown};
        }
        const Reference& known = found->second;
        if (known.state == ValueState::failed) {
            note({to_string(object_of(reference)) + " cannot be read: " + known.problem,
                  "grant the permission to list and watch it, see docs/guide/monitors.md"});
            return {State::unknown};
        }
        if (known.state == ValueState::absent) return {State::no_object};
        const auto value = known.value->get(reference.key);
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
        const auto found = table_.references_.find(object_of(reference));
        return found != table_.references_.end() && !found->second.loaders.empty() &&
               found->second.state == ValueState::present;
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

MonitorTable::MonitorTable(const MonitorSourceConfig& config) : config_(config) {}

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
    std::set<std::string, std::less<>> changed;
    if (diff.full) {
        for (const auto& [name, labels] : namespaces_) changed.insert(name);
        namespaces_.clear();
    }
    for (const auto& ns : diff.removed) {
        namespaces_.erase(std::string(ns->metadata.name));
        changed.emplace(ns->metadata.name);
    }
    const auto put = [&](const api::Namespace& ns) {
        namespaces_.insert_or_assign(std::string(ns.metadata.name), labels_of(ns.metadata.labels));
        changed.emplace(ns.metadata.name);
    };
    for (const auto& ns : diff.added) put(*ns);
    for (const auto& [before, after] : diff.changed) put(*after);
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
    if (!std::exchange(namespaces_known_, true)) mark_all();
}

void MonitorTable::forget_namespaces() {
    namespaces_.clear();
    namespaces_known_ = false;
}

void MonitorTable::set_value(const ReferencedObject& object, DataObjectPtr value) {
    const auto found = references_.find(object);
    if (found == references_.end()) return;
    Reference& reference = found->second;
    reference.state = value ? ValueState::present : ValueState::absent;
    reference.value = std::move(value);
    reference.problem.clear();
    mark_complete(reference.users);
    mark(reference.class_users);
}

void MonitorTable::set_failure(const ReferencedObject& object, const std::string& problem) {
    const auto found = references_.find(object);
    // A value stays in use, however old it is.
    if (found == references_.end() || found->second.state == ValueState::present) return;
    Reference& reference = found->second;
    if (reference.state == ValueState::failed && reference.problem == problem) return;
    reference.state = ValueState::failed;
    reference.problem = problem;
    mark(reference.users);
}

void MonitorTable::mark(const std::set<Key>& users) { marked_.insert(users.begin(), users.end()); }

/// Except those that still wait for another value: one monitor may name a thousand Secrets, which
/// arrive one by one.
void MonitorTable::mark_complete(const std::set<Key>& users) {
    for (const Key& key : users) {
        const auto found = entries_.find(key);
        if (found == entries_.end()) continue;
        if (found->second.state != MonitorState::waiting || !still_waits(found->second)) {
            marked_.insert(key);
        }
    }
}

/// Whether one of its values is still unknown. The last one found is the first to be examined, for
/// ten thousand monitors may name the same Secrets.
bool MonitorTable::still_waits(Entry& entry) const {
    const auto is_unknown = [&](const ReferencedObject& object) {
        const auto found = references_.find(object);
        return found != references_.end() && found->second.watched &&
               found->second.state == ValueState::unknown;
    };
    const auto end = entry.references.end();
    auto unknown = std::find_if(entry.references.lower_bound(entry.waits_for), end, is_unknown);
    if (unknown == end) unknown = std::find_if(entry.references.begin(), end, is_unknown);
    if (unknown != end) entry.waits_for = *unknown;
    return unknown != end;
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
    put_off_ = !is_next && (references_changed_ || quota_changed_);
    if (!is_next) return;
    if (std::exchange(references_changed_, false)) return admit();
    if (std::exchange(quota_changed_, false)) share_out();
}

void MonitorTable::update(const Key& key, Entry& entry) {
    if (key.kind == owner_number) return update_owner(entry);
    if (!owner_) {
        entry.loads = false;
        set_references(key, entry, {}, {});
        return set(key, entry, MonitorState::waiting, {"there is no owner", ""}, {});
    }
    if (key.kind == additional_number) return update_additional(key, entry);
    update_monitor(key, entry);
}

void MonitorTable::update_owner(Entry& entry) {
    const Key key{owner_number, {}};
    if (!owner_input_) {
        set_references(key, entry, {}, {});
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
    set_references(key, entry, std::move(references), {});
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
    const boost::json::object global = global_section(owner, config_.options);
    const std::string global_text = boost::json::serialize(global);
    if (!reader_ || global_text != global_text_ || owner.vm.has_value() != is_reader_of_vm_) {
        ScrapeConfigOptions options;
        options.prometheus_version = config_.prometheus_version;
        if (owner.vm) options.dialect = LabelDialect::victoriametrics;
        reader_.emplace(global, options);
        global_text_ = global_text;
        is_reader_of_vm_ = owner.vm.has_value();
    }
    owner_ = std::move(owner);
    target_rules_.clear();  // they depend on its zones
    metric_rules_.clear();  // and both on its dialect
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
    if (!owner_->additional_scrape_configs) {
        set_references(key, entry, {}, {});
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
        const auto known = namespaces_.find(ns);
        const auto& wanted = owner_->selections[static_cast<std::size_t>(kind)];
        const bool needs_labels = wanted.namespaces && !wanted.namespaces->empty();
        Unselected selected =
            selection(*owner_, kind, ns, labels_of(entry.object->metadata.labels),
                      known == namespaces_.end() ? MonitorLabels() : known->second);
        // NotIn and DoesNotExist match a namespace that is gone, too.
        if (selected == Unselected::selected && needs_labels && known == namespaces_.end()) {
            selected = Unselected::namespace_labels;
        }
        if (selected == Unselected::selected) return false;
        // Only the namespace is in doubt: the previous jobs stay.
        if (selected == Unselected::namespace_labels && !namespaces_known_) {
            set(key, entry, MonitorState::waiting,
                {"the namespaces have not been listed yet", "allow to list and watch namespaces"},
                entry.jobs);
            return true;
        }
        why = words_of(selected, kind, printable(ns), *owner_);
    }
    entry.loads = false;
    set_references(key, entry, {}, {});
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
        set_references(key, entry, {}, {});
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
    set_references(key, entry, std::move(direct), std::move(of_classes));
    if (too_many) {
        return set(key, entry, MonitorState::refused,
                   {"it names more than " + std::to_string(max) + " Secrets and ConfigMaps",
                    "split the object, or raise MonitorSourceLimits::references_per_monitor"},
                   {});
    }
    if (entry.is_over_limit) {
        references_changed_ = true;  // admit() decides
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
            jobs.push_back(make_job(object, job, entry, patterns));
        } catch (const ConfigError& e) {
            return MonitorRefusal{"the job " + job.origin + " is unusable: " + e.problem(),
                                  "change what " + e.where() + " comes from"};
        }
    }
    return std::nullopt;
}

/// \throws ConfigError
MonitorTable::Job MonitorTable::make_job(const std::string& object, const GeneratedJob& generated,
                                         const Entry& entry, PatternBudget& patterns) {
    ScrapeJob job = reader_->read(generated.config);
    job.discovery.configs = adapted(job.discovery.configs);
    if (config_.deny_file_access && names_files(*job.client)) {
        throw ConfigError("tls_config or authorization",
                          "credentials and TLS material must not be in files "
                          "(deny_fs_access_through_sms)");
    }
    constexpr std::size_t per_instruction = 16;  // bytes, roughly
    const std::size_t before = patterns.spent();
    Job made;
    made.rules = make_rules(job.scrape, patterns);
    made.bytes = generated.bytes + bytes_of_compiled(job.scrape) +
                 (patterns.spent() - before) * per_instruction;
    const auto old = std::find_if(entry.jobs.begin(), entry.jobs.end(), [&](const Job& candidate) {
        return candidate.job->origin == generated.origin;
    });
    if (old != entry.jobs.end() && job == *old->job->job) {
        made.job = old->job;
    } else {
        made.job = std::make_shared<const MonitorJob>(MonitorJob{
            generated.origin, object, std::make_shared<const ScrapeJob>(std::move(job))});
    }
    return made;
}

/// Sets the server, and replaces the name of the node.
void MonitorTable::adapt(DiscoveryConfig& discovery) const {
    if (!config_.node_name.empty()) {
        for (Selector& selector : discovery.selectors) {
            for (const char* placeholder : {"$(NODE_NAME)", "%{KUBE_NODE_NAME}"}) {
                replace_all(selector.field, placeholder, config_.node_name);
            }
        }
    }
    if (!discovery.api_server.url.empty() || !discovery.kubeconfig_file.empty()) return;
    discovery.api_server = config_.api_server;
    discovery.kubeconfig_file = config_.kubeconfig_file;
    discovery.kubeconfig_context = config_.kubeconfig_context;
    if (discovery.cluster.name.empty()) discovery.cluster = config_.cluster;
}

/// Jobs that share a configuration as it is read share the adapted one, too.
SharedList<DiscoveryConfig> MonitorTable::adapted(const SharedList<DiscoveryConfig>& configs) {
    SharedList<DiscoveryConfig> made;
    made.reserve(configs.size());
    for (std::size_t i = 0; i < configs.size(); ++i) {
        if (auto known = discoveries_.find(configs.pointer(i))) {
            made.share(std::move(known));
            continue;
        }
        DiscoveryConfig config = configs[i];
        adapt(config);
        made.push_back(std::move(config));
        // One with a server of its own may have credentials.
        if (configs[i].api_server == ApiServerConfig())
            discoveries_.add(configs.pointer(i), made.pointer(i));
    }
    return made;
}

/// The rule with the number of the shard in place of its placeholders.
RelabelRulePtr MonitorTable::adapted(const RelabelRulePtr& rule) const {
    if (!config_.shard) return rule;
    std::vector<std::pair<std::string_view, std::string>> values{
        {"$(SHARD)", std::to_string(*config_.shard)}};
    if (const std::vector<std::string>& zones = owner_->topology; !zones.empty()) {
        values.emplace_back("$(INZONE_SHARD)", std::to_string(*config_.shard / zones.size()));
        values.emplace_back("$(TOPOLOGY_ZONE)", zones[*config_.shard % zones.size()]);
    }
    RelabelRule now = *rule;
    for (const auto& [placeholder, value] : values) {
        replace_all(now.regex, placeholder, value);
        replace_all(now.replacement, placeholder, value);
    }
    return now == *rule ? rule : std::make_shared<const RelabelRule>(std::move(now));
}

/// Compiles the rules of the job, in place. Pools do not use those for metrics, but they are
/// compiled at each change.
/// \returns those that earlier jobs do not have
/// \throws ConfigError for those that pools would refuse
std::vector<SharedRulePtr> MonitorTable::make_rules(ScrapeConfig& config, PatternBudget& patterns) {
    const RelabelOptions options = relabel_options(config);
    std::vector<SharedRulePtr> own;
    const auto make = [&](const char* where, MadeRules& known, RelabelRules& rules,
                          const auto& adapt_rule) {
        RelabelRules made;
        made.reserve(rules.size());
        for (std::size_t i = 0; i < rules.size(); ++i) {
            const RelabelRulePtr& read = rules.pointer(i);
            SharedRulePtr rule = known.find(read);
            if (!rule || !patterns.count(rule->patterns())) {
                try {
                    rule = shared_rule(*adapt_rule(read), options, patterns);
                } catch (const ConfigError& e) {
                    throw ConfigError(where + ("[" + std::to_string(i) + "].") + e.where(),
                                      e.problem());
                }
                if (is_small(*rule)) known.add(read, rule);
                own.push_back(rule);
            }
            made.share(rule->rule());
        }
        rules = std::move(made);
    };
    make("relabel_configs", target_rules_, config.relabel_configs,
         [&](const RelabelRulePtr& rule) { return adapted(rule); });
    make("metric_relabel_configs", metric_rules_, config.metric_relabel_configs,
         [](const RelabelRulePtr& rule) { return rule; });
    return own;
}

/// A valid monitor has its jobs if the quota suffices for them.
void MonitorTable::set_valid(const Key& key, Entry& entry, std::vector<Job> jobs) {
    const MonitorQuota needed = size_of(jobs);
    const bool is_granted = std::exchange(entry.granted, std::nullopt) == needed;
    const bool has_room =
        !entry.is_over_quota && fits(used_ - size_of(entry.jobs) + needed, config_.limits.quota);
    if (is_granted || has_room || key.kind == additional_number) {
        return set(key, entry, MonitorState::accepted, {}, std::move(jobs));
    }
    set_needed(key, entry, needed);
    if (entry.is_over_quota) return;
    // share_out() decides. Until then its present jobs stay, for they may have to stay.
    entry.waits_for_quota = true;
    quota_changed_ = true;
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
    set_loader(key, entry);
}

void MonitorTable::set_jobs(Entry& entry, std::vector<Job> jobs) {
    for (const Job& before : entry.jobs) {
        const std::string& name = before.job->origin;
        const auto stays = [&](const Job& job) { return job.job->origin == name; };
        if (std::any_of(jobs.begin(), jobs.end(), stays)) continue;
        current_.erase(name);
        changed_jobs_.insert(name);
    }
    for (const Job& job : jobs) {
        MonitorJobPtr& place = current_[job.job->origin];
        if (place == job.job) continue;
        place = job.job;
        changed_jobs_.insert(job.job->origin);
    }
    // Those of the owner do not count for the quota of monitors.
    if (entry.object) used_ = used_ - size_of(entry.jobs) + size_of(jobs);
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
    const MonitorQuota before = std::exchange(needed_, needed_ - entry.needed + needed);
    entry.needed = needed;
    const MonitorQuota& limits = config_.limits.quota;
    quota_changed_ |= !fits(before, limits) || !fits(needed_, limits);
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
    const bool suffices = fits(needed_, config_.limits.quota);
    const std::vector<bool> granted = suffices ? std::vector<bool>(requests.size(), true)
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
    quota_changed_ = false;
}

// --- references ----------------------------------------------------------------------------------

void MonitorTable::set_references(const Key& key, Entry& entry, std::set<ReferencedObject> direct,
                                  std::set<ReferencedObject> of_classes) {
    const auto replace = [&](std::set<ReferencedObject>& old, std::set<ReferencedObject> now,
                             std::set<Key> Reference::*users) {
        if (old == now) return;
        for (const ReferencedObject& object : now) {
            if (!old.contains(object)) (references_[object].*users).insert(key);
        }
        for (const ReferencedObject& object : old) {
            if (now.contains(object)) continue;
            Reference& reference = references_[object];
            (reference.*users).erase(key);
            if (users == &Reference::users) set_loaded(key, reference, false);
        }
        old = std::move(now);
        references_changed_ = true;
    };
    replace(entry.references, std::move(direct), &Reference::users);
    replace(entry.class_references, std::move(of_classes), &Reference::class_users);
}

/// Monitors with a scrape class depend on whether a valid monitor loads a Secret.
void MonitorTable::set_loader(const Key& key, const Entry& entry) {
    const bool loads = entry.loads && key.kind != owner_number;
    for (const ReferencedObject& object : entry.references) {
        set_loaded(key, references_[object], loads);
    }
}

void MonitorTable::set_loaded(const Key& key, Reference& reference, bool loads) {
    const bool was_loaded = !reference.loaders.empty();
    if (loads) {
        reference.loaders.insert(key);
    } else {
        reference.loaders.erase(key);
    }
    if (was_loaded == reference.loaders.empty()) mark(reference.class_users);
}

void MonitorTable::watch(const ReferencedObject& object, Reference& reference, bool on) {
    if (reference.watched == on) return;
    reference.watched = on;
    reference.state = ValueState::unknown;
    reference.value.reset();
    (on ? watch_changes_.begin : watch_changes_.end).push_back(object);
}

/// Decides which references are watched. The result depends on the present monitors only, not on
/// the order of changes: the owner comes first, then the namespaces of monitors get fair shares.
/// Each monitor is admitted with all its references.
void MonitorTable::admit() {
    std::size_t count = 0;
    for (auto it = references_.begin(); it != references_.end();) {
        const auto reference = it++;
        if (!reference->second.users.empty()) {
            ++count;
            continue;
        }
        watch(reference->first, reference->second, false);
        if (!reference->second.needed()) references_.erase(reference);
    }
    const std::size_t max = config_.limits.references;
    if (count <= max && !some_over_limit_) {
        for (auto& [object, reference] : references_) {
            if (!reference.users.empty()) watch(object, reference, true);
        }
        return;
    }
    std::set<ReferencedObject> admitted;
    std::map<std::string_view, std::size_t> used;
    std::vector<Entries::iterator> entries;
    std::vector<std::string_view> namespaces;
    some_over_limit_ = false;
    const auto count_new = [&](const Entry& entry) {
        const auto is_new = [&](const ReferencedObject& o) { return !admitted.contains(o); };
        return static_cast<std::size_t>(
            std::count_if(entry.references.begin(), entry.references.end(), is_new));
    };
    const auto decide = [&](Entries::iterator at, std::string_view ns) {
        const Key& key = at->first;
        Entry& entry = at->second;
        const std::size_t more = count_new(entry);
        const bool fits = admitted.size() + more <= max;
        if (fits) {
            admitted.insert(entry.references.begin(), entry.references.end());
            used[ns] += more;
        }
        some_over_limit_ |= !fits;
        if (!fits) {
            entry.is_over_limit = true;
            entry.loads = false;
            set(key, entry, MonitorState::refused,
                {"more than " + std::to_string(max) +
                     " Secrets and ConfigMaps are named by monitors, and this one is beyond the "
                     "share of its namespace",
                 "remove monitors of the namespace, or raise MonitorSourceLimits::references"},
                {});
        } else if (std::exchange(entry.is_over_limit, false)) {
            marked_.insert(key);
        }
    };
    for (auto it = entries_.begin(); it != entries_.end(); ++it) {
        const std::string_view name = it->first.name;
        if (!it->second.object) {  // the owner, which comes first, or its additional jobs
            decide(it, {});
        } else if (!it->second.references.empty() || it->second.is_over_limit) {
            entries.push_back(it);
            namespaces.push_back(name.substr(0, name.find('/')));
        }
    }
    grant_fairly(
        namespaces,
        [&](std::size_t i) {
            return static_cast<double>(used[namespaces[i]] + count_new(entries[i]->second));
        },
        [&](std::size_t i) { decide(entries[i], namespaces[i]); });
    for (auto& [object, reference] : references_)
        watch(object, reference, admitted.contains(object));
}

void MonitorTable::remove(Entries::iterator it) {
    const Key key = it->first;
    Entry& entry = it->second;
    entry.loads = false;
    set(key, entry, MonitorState::unselected, {}, {});
    set_references(key, entry, {}, {});
    marked_.erase(key);
    waiting_.erase(key);
    entries_.erase(it);
}

// --- results -------------------------------------------------------------------------------------

MonitorDiff MonitorTable::take_news() {
    MonitorDiff diff;
    diff.full = !std::exchange(is_delivered_, true);
    for (const std::string& name : std::exchange(changed_jobs_, {})) {
        const auto now = current_.find(name);
        const auto before = delivered_.find(name);
        if (now == current_.end()) {
            if (before == delivered_.end()) continue;
            diff.removed.push_back(name);
            delivered_.erase(before);
            continue;
        }
        const bool same = before != delivered_.end() && (before->second == now->second ||
                                                         *before->second->job == *now->second->job);
        delivered_.insert_or_assign(name, now->second);
        if (!same) diff.updated.push_back(now->second);
    }
    job_changes_ += diff.updated.size() + diff.removed.size();
    return diff;
}

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
    status.jobs = current_.size();
    status.bytes = used_.bytes;
    status.generations = generations_;
    status.job_changes = job_changes_;
    for (const auto& [object, reference] : references_) status.references += reference.watched;
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
