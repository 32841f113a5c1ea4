#include "k8s_sd/detail/groups/group_registry.hpp"
#include "k8s_sd/detail/groups/group_watcher_impl.hpp"
#include "k8s_sd/group_watcher.hpp"

#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>
#include <algorithm>
#include <utility>

namespace k8s_sd::inline v0 {

using namespace detail;

namespace {

// Groups made in one turn of the strand, so that other handlers get theirs.
constexpr std::size_t groups_per_turn = 1024;

std::string joined(const std::vector<Selector>& selectors, Kind kind,
                   std::string Selector::*member) {
    std::string text;
    for (const Selector& selector : selectors) {
        if (main_kind(selector.role) != kind || (selector.*member).empty()) continue;
        if (!text.empty()) text += ',';
        text += selector.*member;
    }
    return text;
}

}  // namespace

GroupWatcher::Impl::Impl(asio::any_io_executor ex, WatchScope key, const Environment& env)
    : strand(std::move(ex)),
      environment(env),
      key_(std::move(key)),
      client_(std::make_shared<ApiClient>(strand, key_.api_server, environment)),
      maker_(std::make_shared<ObjectMaker>()) {
    maker_->options.rules = &detail::rules_of(key_.dialect);
    maker_->options.attach = key_.attach_metadata;
    maker_->options.by_namespace = !key_.namespaces.empty();
    maker_->options.max_targets = key_.watch.max_targets_per_object;
}

GroupWatcher::Impl::~Impl() = default;

// --- subscribers ---------------------------------------------------------------------------------

void GroupWatcher::Impl::subscribe(Role role, std::weak_ptr<Subscriber> subscriber) {
    RoleState& state = state_of(role);
    state.subscribers.push_back(subscriber);
    if (state.needed.empty()) return activate(role);
    const auto alive = subscriber.lock();
    if (state.ready && alive) alive->on_ready();
}

void GroupWatcher::Impl::unsubscribe(Role role, const std::weak_ptr<Subscriber>& subscriber) {
    RoleState& state = state_of(role);
    const auto same = [&](const std::weak_ptr<Subscriber>& other) {
        return !other.owner_before(subscriber) && !subscriber.owner_before(other);
    };
    const auto it = std::find_if(state.subscribers.begin(), state.subscribers.end(), same);
    if (it == state.subscribers.end()) return;
    state.subscribers.erase(it);
    deactivate_unused();
}

// Not while a subscriber is on the way, who may need the same watchers.
void GroupWatcher::Impl::deactivate_unused() {
    if (coming != 0) return;
    for (std::size_t i = 0; i < roles_.size(); ++i) {
        const bool active = !roles_[i].needed.empty();
        if (active && roles_[i].subscribers.empty()) deactivate(static_cast<Role>(i));
    }
}

void GroupWatcher::Impl::activate(Role role) {
    RoleState& state = state_of(role);
    state.needed = needed_kinds(role, key_.attach_metadata);
    // Another role may have the main objects already.
    for (const auto& [ns, watcher] : watchers_[static_cast<std::size_t>(main_kind(role))]) {
        watcher->for_each([&](const ObjectPtr& object) { track(state, role, {nullptr, object}); });
    }
    for (const Kind kind : state.needed) start_watchers(kind);
    publish_status();
    update();
}

void GroupWatcher::Impl::deactivate(Role role) {
    RoleState& state = state_of(role);
    for (const auto& entry : state.entries) {
        if (entry->dependencies) graph_.set_dependencies(*entry, *entry->dependencies, {});
    }
    state = {};
    stop_unneeded_watchers();
    publish_status();
}

// --- watchers ------------------------------------------------------------------------------------

void GroupWatcher::Impl::start_watchers(Kind kind) {
    auto& watchers = watchers_[static_cast<std::size_t>(kind)];
    if (!watchers.empty()) return;
    std::vector<std::string> namespaces = key_.namespaces;
    if (namespaces.empty() || !resource_of(kind).namespaced) namespaces = {""};
    for (const std::string& ns : namespaces) {
        WatchQuery query{kind, ns, joined(key_.selectors, kind, &Selector::label),
                         joined(key_.selectors, kind, &Selector::field)};
        auto watcher = std::make_unique<URLWatcher>(client_, std::move(query), key_.watch,
                                                    static_cast<WatchObserver&>(*this), maker_);
        watcher->start();
        watchers.emplace(ns, std::move(watcher));
    }
}

void GroupWatcher::Impl::stop_unneeded_watchers() {
    for (std::size_t kind = 0; kind < kind_count; ++kind) {
        const bool needed = std::any_of(roles_.begin(), roles_.end(), [&](const RoleState& state) {
            return std::find(state.needed.begin(), state.needed.end(), static_cast<Kind>(kind)) !=
                   state.needed.end();
        });
        if (!needed) watchers_[kind].clear();
    }
}

bool GroupWatcher::Impl::synced(Kind kind) const {
    const auto& watchers = watchers_[static_cast<std::size_t>(kind)];
    return std::all_of(watchers.begin(), watchers.end(),
                       [](const auto& watcher) { return watcher.second->synced(); });
}

bool GroupWatcher::Impl::all_synced(const RoleState& state) const {
    return std::all_of(state.needed.begin(), state.needed.end(),
                       [this](Kind kind) { return synced(kind); });
}

const Object* GroupWatcher::Impl::find(Kind kind, std::string_view ns, std::string_view name) {
    graph_.record(kind, ns, name, asked_);
    const auto& watchers = watchers_[static_cast<std::size_t>(kind)];
    auto it = watchers.find(resource_of(kind).namespaced ? ns : std::string_view());
    if (it == watchers.end()) it = watchers.find(std::string_view());
    return it == watchers.end() ? nullptr : it->second->find(ns, name);
}

// --- from objects to groups ----------------------------------------------------------------------

void GroupWatcher::Impl::on_change(const ObjectChange& change) {
    const Object& object = change.after ? *change.after : *change.before;
    for (std::size_t i = 0; i < roles_.size(); ++i) {
        const auto role = static_cast<Role>(i);
        if (main_kind(role) == object.kind() && !roles_[i].needed.empty()) {
            track(roles_[i], role, change);
        }
    }
    warn_of_over_capacity(change);
    for (Entry* entry : graph_.dependents(object.kind(), object.ns(), object.name())) {
        mark(state_of(entry->role), *entry);
    }
}

void GroupWatcher::Impl::warn_of_over_capacity(const ObjectChange& change) const {
    if (!change.after || change.after->kind() != Kind::endpoints) return;
    const auto over_capacity = [](const ObjectPtr& object) {
        return object && static_cast<const EndpointsObject&>(*object).over_capacity;
    };
    if (!over_capacity(change.after) || over_capacity(change.before)) return;
    const Logger& logger = environment.logger;
    if (!logger.enabled(LogLevel::warning)) return;
    logger.log(LogLevel::warning, "endpoints " + std::string(change.after->ns()) + "/" +
                                      std::string(change.after->name()) +
                                      " has more addresses than it can hold, some are missing; "
                                      "use the role endpointslice");
}

void GroupWatcher::Impl::track(RoleState& state, Role role, const ObjectChange& change) {
    const Object& object = change.after ? *change.after : *change.before;
    auto it = state.entries.find(ObjectKey{object.ns(), object.name()});
    if (it == state.entries.end()) {
        if (!change.after) return;
        auto entry = std::make_unique<Entry>();
        entry->object = change.after;
        entry->role = role;
        it = state.entries.insert(std::move(entry)).first;
    } else {
        Entry& entry = **it;
        entry.gone = !change.after;
        if (change.after) {
            entry.replaced |= !entry.object->same_uid(*change.after);
            entry.object = change.after;
        }
    }
    mark(state, **it);
}

void GroupWatcher::Impl::on_batch_end() {
    publish_counts();
    update();
}

void GroupWatcher::Impl::mark(RoleState& state, Entry& entry) {
    if (std::exchange(entry.dirty, true)) return;
    state.dirty.push_back(&entry);
}

void GroupWatcher::Impl::update() {
    for (std::size_t i = 0; i < roles_.size(); ++i) update(static_cast<Role>(i));
}

void GroupWatcher::Impl::update(Role role) {
    RoleState& state = state_of(role);
    if (state.needed.empty() || !all_synced(state)) return;
    if (state.ready && state.dirty.empty()) return;
    const std::size_t turn = std::min(state.dirty.size(), groups_per_turn);
    const std::vector<Entry*> now(state.dirty.end() - static_cast<std::ptrdiff_t>(turn),
                                  state.dirty.end());
    state.dirty.resize(state.dirty.size() - turn);
    for (Entry* entry : now) regenerate(state, *entry);
    if (!state.dirty.empty() && !std::exchange(update_posted_, true)) {
        asio::post(strand, [weak = owner] {
            const auto group = weak.lock();
            if (!group) return;
            group->impl_->update_posted_ = false;
            group->impl_->update();
        });
    }
    if (!state.ready && state.dirty.empty()) {
        state.ready = true;
        state.dirty.shrink_to_fit();
        for_each_subscriber(state, [](Subscriber& subscriber) { subscriber.on_ready(); });
    } else if (state.ready) {
        for_each_subscriber(state, [](Subscriber& subscriber) { subscriber.on_batch_end(); });
    }
}

void GroupWatcher::Impl::regenerate(RoleState& state, Entry& entry) {
    entry.dirty = false;
    // Nothing of a deleted object lives on, even if one of its name comes before a host is told.
    GroupChange change{nullptr, entry.group, std::exchange(entry.replaced, false) || entry.gone};
    if (!entry.gone) change.group = generate(entry);
    const bool equal =
        change.group && change.previous && !change.replaced && *change.group == *change.previous;
    if (!equal) {
        entry.group = change.group;
        if (state.ready && (change.group || change.previous)) notify(state, change);
    }
    if (entry.gone) {
        if (entry.dependencies) graph_.set_dependencies(entry, *entry.dependencies, {});
        state.entries.erase(state.entries.find(ObjectKey{entry.ns(), entry.name()}));
    }
}

TargetGroupPtr GroupWatcher::Impl::generate(Entry& entry) {
    asked_.clear();
    GeneratorContext generation{maker_->options, maker_->factory, *this, builder_};
    TargetGroupPtr group = detail::generate(entry.role, *entry.object, generation);
    environment.metrics->groups_generated.fetch_add(1, std::memory_order_relaxed);
    if (!entry.dependencies && !asked_.empty()) {
        entry.dependencies = std::make_unique<Graph::Dependencies>();
    }
    if (entry.dependencies) graph_.set_dependencies(entry, *entry.dependencies, asked_);
    if (!builder_.overfull()) return group;
    const Logger& logger = environment.logger;
    if (logger.enabled(LogLevel::warning)) {
        logger.log(LogLevel::warning,
                   std::string(to_string(main_kind(entry.role))) + " " + std::string(entry.ns()) +
                       "/" + std::string(entry.name()) + " has more than " +
                       std::to_string(key_.watch.max_targets_per_object) +
                       " targets (max_targets_per_object); it keeps those that it had");
    }
    return entry.group;
}

void GroupWatcher::Impl::notify(RoleState& state, const GroupChange& change) {
    for_each_subscriber(state, [&](Subscriber& subscriber) { subscriber.on_group(change); });
}

template <class Call>
void GroupWatcher::Impl::for_each_subscriber(RoleState& state, Call call) {
    for (const auto& subscriber : state.subscribers) {
        if (const auto alive = subscriber.lock()) call(*alive);
    }
}

void GroupWatcher::Impl::for_each_group(
    Role role, const std::function<void(const TargetGroupPtr&)>& visit) const {
    for (const auto& entry : state_of(role).entries) {
        if (entry->group) visit(entry->group);
    }
}

// --- status --------------------------------------------------------------------------------------

void GroupWatcher::Impl::on_status() { publish_status(); }

void GroupWatcher::Impl::publish_status() {
    std::vector<WatchStatus> status;
    for (const auto& watchers : watchers_) {
        for (const auto& [ns, watcher] : watchers) status.push_back(watcher->status());
    }
    const std::lock_guard lock(status_mutex_);
    status_.swap(status);
}

// What changes with every event, without copying the texts.
void GroupWatcher::Impl::publish_counts() {
    const std::lock_guard lock(status_mutex_);
    auto status = status_.begin();
    for (const auto& watchers : watchers_) {
        for (const auto& [ns, watcher] : watchers) (status++)->objects = watcher->size();
    }
}

std::vector<WatchStatus> GroupWatcher::Impl::status(Role role) const {
    const auto needed = needed_kinds(role, key_.attach_metadata);
    std::vector<WatchStatus> status;
    const std::lock_guard lock(status_mutex_);
    std::copy_if(status_.begin(), status_.end(), std::back_inserter(status),
                 [&](const auto& watch) {
                     return std::find(needed.begin(), needed.end(), watch.kind) != needed.end();
                 });
    return status;
}

// --- the handle ----------------------------------------------------------------------------------

GroupWatcher::GroupWatcher(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
GroupWatcher::~GroupWatcher() = default;

std::shared_ptr<GroupWatcher> GroupWatcher::acquire(const asio::any_io_executor& executor,
                                                    const WatchScope& key) {
    auto& context = asio::query(executor, asio::execution::context);
    return asio::use_service<GroupRegistry>(context).acquire(executor, key);
}

GroupWatcher::Subscription GroupWatcher::subscribe(Role role,
                                                   std::weak_ptr<Subscriber> subscriber) {
    Subscription subscription;
    subscription.group_ = shared_from_this();
    subscription.subscriber_ = subscriber;
    subscription.role_ = role;
    // By post, because a subscriber may subscribe another one while it is told of something.
    ++impl_->coming;
    asio::post(impl_->strand, [self = shared_from_this(), role, subscriber] {
        self->impl_->owner = self;
        --self->impl_->coming;
        self->impl_->subscribe(role, subscriber);
        self->impl_->deactivate_unused();
    });
    return subscription;
}

asio::any_io_executor GroupWatcher::get_executor() const { return impl_->strand; }
std::vector<WatchStatus> GroupWatcher::status(Role role) const { return impl_->status(role); }
const Environment& GroupWatcher::environment() const { return impl_->environment; }
void GroupWatcher::for_each_group(Role role,
                                  const std::function<void(const TargetGroupPtr&)>& visit) const {
    impl_->for_each_group(role, visit);
}

GroupWatcher::Subscription& GroupWatcher::Subscription::operator=(Subscription&& other) noexcept {
    if (this != &other) {
        reset();
        group_ = std::move(other.group_);
        subscriber_ = std::move(other.subscriber_);
        role_ = other.role_;
    }
    return *this;
}

void GroupWatcher::Subscription::reset() noexcept {
    if (!group_) return;
    // By post: a subscriber that comes right after this one is counted before this one goes.
    const auto strand = group_->get_executor();
    asio::post(strand, [group = std::move(group_), subscriber = std::move(subscriber_),
                        role = role_] { group->impl_->unsubscribe(role, subscriber); });
    group_ = nullptr;
}

}  // namespace k8s_sd::inline v0
