#include "k8s_sd/detail/async/host_handle.hpp"
#include "k8s_sd/detail/async/operation.hpp"
#include "k8s_sd/detail/base/coalesced_changes.hpp"
#include "k8s_sd/detail/base/first_exception.hpp"
#include "k8s_sd/detail/client/api_client_impl.hpp"
#include "k8s_sd/detail/client/context_environment.hpp"
#include "k8s_sd/detail/hosts/object_watch.hpp"
#include "k8s_sd/detail/hosts/resource_search.hpp"
#include "k8s_sd/detail/hosts/watched_objects.hpp"
#include "k8s_sd/detail/kinds/object_maker.hpp"
#include "k8s_sd/detail/objects/object_store.hpp"
#include "k8s_sd/detail/sharing/discoverer_status.hpp"
#include "k8s_sd/detail/sharing/kind_view.hpp"
#include "k8s_sd/detail/sharing/shared_watches.hpp"
#include "k8s_sd/objects/object.hpp"

#include <boost/asio/post.hpp>
#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Undelivered changes of objects, coalesced by name.
class PendingObjects {
 public:
    /// \param differ  differ(const Object& before, const Object& after): whether it is a change
    template <class Differ>
    void add(const ObjectChange& change, const Differ& differ) {
        changes_.add(change, [&](const ObjectChange& sum, bool /*is_sum*/) {
            if (!sum.before || !sum.after) return sum.before != sum.after;
            return differ(*sum.before, *sum.after);
        });
    }
    bool empty() const noexcept { return changes_.empty(); }
    std::vector<ObjectChange> take() { return changes_.take(); }

 private:
    struct ByName {
        using Change = ObjectChange;
        using Key = NameView;
        using Hash = KeyHash;
        using Equal = KeyEqual;
        static Key key_of(const ObjectChange& change) {
            const Object& object = change.after ? *change.after : *change.before;
            return {object.ns(), object.name()};
        }
        static ObjectChange sum_of(const ObjectChange& earlier, const ObjectChange& later) {
            return {earlier.before, later.after};
        }
    };

    CoalescedChanges<ByName> changes_;
};

/// The server of the objects, for hosts that want to know when it changes.
class KnownServer {
 public:
    void report_moves() noexcept { reported_ = true; }
    void set(std::optional<ServerIdentity> server) { server_ = std::move(server); }
    /// Whether the host does not know of a move yet.
    bool has_moved() const { return reported_ && server_ && server_ != delivered_; }
    /// See News.
    const std::optional<ServerIdentity>& get() const noexcept { return server_; }
    void deliver(std::optional<ServerIdentity> server) noexcept {
        if (server) delivered_.swap(server);
    }

 private:
    bool reported_ = false;
    std::optional<ServerIdentity> server_;
    std::optional<ServerIdentity> delivered_;  // as last delivered to the host
};

class ObjectWatch::Impl final : public HostHandle<ObjectWatch::News>, public KindView::Observer {
 public:
    Impl(const executor_type& executor, Kind kind, const WatcherConfig& config, Receiver receiver)
        : Impl(executor, kind, config, std::move(receiver), Inputs(executor, config)) {}

    void set_contact_callback(std::function<void(TimePoint)> callback) {
        contact_callback_ = std::move(callback);
    }

    void report_moves() { server_.report_moves(); }

    DiscovererStatus status() const override {
        std::vector<WatchStatus> watches;
        const std::lock_guard lock(mutex_);
        if (cancelled()) return discoverer_status({});
        if (search_) watches.push_back(search_->status());
        if (view_) view_->add_status(watches);
        return discoverer_status(std::move(watches));
    }

 private:
    /// Inputs read once, before anything is created.
    struct Inputs {
        Inputs(const executor_type& executor, const WatcherConfig& config)
            : scope(resolve_scope(config, ContextEnvironment::of(executor).in_cluster())),
              watches(WatchRegistry::watches_on(executor, scope)) {}
        WatchScope scope;
        std::shared_ptr<SharedWatches> watches;
    };

    Impl(const executor_type& executor, Kind kind, const WatcherConfig& config, Receiver receiver,
         const Inputs& inputs)
        : HostHandle(executor, inputs.watches->strand(), inputs.watches->environment().clock,
                     inputs.watches->environment().metrics, config.min_update_interval,
                     receiver.call != nullptr),
          kind_(kind),
          resource_(config.resource),
          wanted_{inputs.scope.namespaces, config.label_selector, config.field_selector, true,
                  fields_meant(kind, config.fields)},
          receiver_(std::move(receiver)),
          watches_(inputs.watches) {}

    void begin() override {
        asio::post(watches_->strand(), [self = self_as(this)] { self->start(); });
    }
    void end() noexcept override {
        post_end(watches_->strand(), [self = self_as(this)] { self->stop(); });
    }

    // --- on the strand of the watches ---------------------------------------------------------

    void start() {
        if (cancelled()) return;
        if (kind_ != any_other_kind) return watch(kind_);
        if (const auto kind = kind_of_resource(resource_)) return watch(*kind);
        search();
    }

    void search() {
        auto search = std::make_shared<ResourceSearch>(watches_->client(), resource_);
        {
            const std::lock_guard lock(mutex_);
            search_ = search;
        }
        const std::weak_ptr<Impl> weak = self_as(this);
        search->start(
            [weak](Kind kind) {
                if (const auto self = weak.lock()) self->watch(kind);
            },
            [weak] {
                if (const auto self = weak.lock()) self->on_status_change();
            },
            search_pacing_.next(watches_->environment().clock->now()));
    }

    void watch(Kind kind) {
        if (cancelled()) return;
        if (view_ && kind == watched_) return watch_again();
        const std::unique_ptr<KindView> replaced = start_view(kind);
        if (!replaced) return;
        if (known_) replaced->for_each([this](const ObjectPtr& object) { keep_delivered(object); });
        known_ = false;
    }

    /// The server has the resource again: its watches need not wait any longer.
    void watch_again() {
        {
            const std::lock_guard lock(mutex_);
            search_.reset();
        }
        view_->end_pauses();
    }

    /// \returns the previous view if it is replaced
    std::unique_ptr<KindView> start_view(Kind kind) {
        auto view = std::make_unique<KindView>(watches_->for_hosts(kind), wanted_,
                                               static_cast<KindView::Observer&>(*this));
        const std::lock_guard lock(mutex_);
        search_.reset();
        watched_ = kind;
        view_.swap(view);
        return view;
    }

    /// Remembers an object delivered in the previous version.
    void keep_delivered(const ObjectPtr& object) {
        delivered_.insert_or_assign({std::string(object->ns()), std::string(object->name())},
                                    object);
    }

    /// The server no longer has the resource as it was found; it may have another version.
    void search_again() {
        if (kind_ != any_other_kind || search_ || kind_of_resource(resource_)) return;
        std::vector<WatchStatus> watches;
        view_->add_status(watches);
        const auto is_gone = [](const WatchStatus& w) { return w.error == errc::not_found; };
        if (std::any_of(watches.begin(), watches.end(), is_gone)) search();
    }

    void stop() {
        if (search_) search_->cancel();
        std::unique_ptr<KindView> view;
        const std::lock_guard lock(mutex_);
        view.swap(view_);
        search_.reset();
        delivered_.clear();
        state_.reset();
        pending_ = {};
    }

    void on_change(const ObjectChange& change) override {
        if (!known_) return;  // a part of the first state
        const std::lock_guard lock(mutex_);
        pending_.add(change, [this](const Object& before, const Object& after) {
            return view_->distinguishes(before, after);
        });
    }

    void on_batch_end() override {
        if (!known_ && !view_->synced()) return;
        const bool is_first = !known_;
        if (is_first) {
            const std::lock_guard lock(mutex_);
            has_begun_ ? compare_with_delivered() : take_state();
            known_ = true;  // not before: without memory, the next batch tries again
        }
        FirstException problem;
        problem.catch_from([&] { deliver_later(); });
        if (is_first) problem.catch_from([&] { on_first_state(); });
        problem.rethrow();
    }

    void deliver_later() {
        FirstException problem;
        const std::lock_guard lock(mutex_);
        problem.catch_from([&] { note_server(); });
        note_changes();
        if (has_news() && !cancelled()) problem.catch_from([&] { wake(); });
        problem.rethrow();
    }

    /// Called under the mutex between two batches, when the known state is consistent.
    void note_server() {
        std::optional<ServerIdentity> server;
        if (view_->knows_present_server()) server = impl_of(*watches_->client()).server_identity;
        server_.set(std::move(server));
    }

    void take_state() {
        std::vector<ObjectChange> state;
        view_->for_each([&](const ObjectPtr& object) { state.push_back({nullptr, object}); });
        state_ = std::move(state);
        has_begun_ = true;
    }

    /// Compares all objects, because another version may change every one of them. Without memory
    /// it has no effect: an object may be gone when the comparison is repeated.
    void compare_with_delivered() {
        PendingObjects changes = pending_;
        const auto differ = [this](const Object& before, const Object& after) {
            return view_->distinguishes(before, after);
        };
        view_->for_each([&](const ObjectPtr& object) {
            const auto previous =
                delivered_.find({std::string(object->ns()), std::string(object->name())});
            changes.add({previous == delivered_.end() ? nullptr : previous->second, object},
                        differ);
        });
        for (const auto& [name, object] : delivered_) {
            if (!view_->find(name.first, name.second)) changes.add({object, nullptr}, differ);
        }
        std::swap(pending_, changes);
        delivered_.clear();
    }

    void on_status() override {
        search_again();
        {
            const std::lock_guard lock(mutex_);
            if (known_ && view_) note_server();
            if (server_.has_moved() && !cancelled()) {
                note_changes();
                wake();
            }
        }
        on_status_change();
    }

    void on_contact(TimePoint when) override {
        if (cancelled()) return;
        {
            const std::lock_guard lock(mutex_);
            if (is_behind()) return wake();
        }
        if (contact_callback_) contact_callback_(when);
    }

    // --- delivery -----------------------------------------------------------------------------

    bool has_news() const override { return state_ || !pending_.empty() || server_.has_moved(); }

    News take_news() override {
        // Nothing throws after the changes are taken.
        News news{.full = state_.has_value(), .changes = {}, .server = server_.get()};
        std::optional<ServerIdentity> delivered = server_.get();
        if (state_) {
            news.changes = std::move(*state_);
            state_.reset();
        } else {
            news.changes = pending_.take();
        }
        server_.deliver(std::move(delivered));
        return news;
    }

    void prepare(const News& news) override { receiver_.prepare(news); }
    void call(const News&) override { receiver_.call(); }

    const Kind kind_;  ///< any_other_kind: the kind of the resource
    const ResourceName resource_;
    const WantedObjects wanted_;
    const Receiver receiver_;
    std::function<void(TimePoint)> contact_callback_;  // set before async_run()
    const std::shared_ptr<SharedWatches> watches_;
    // Used on the strand only.
    Kind watched_ = any_other_kind;  ///< by the view
    bool has_begun_ = false;         ///< a complete state was known before
    bool known_ = false;             ///< the view is synced
    SearchPacing search_pacing_;
    /// The objects delivered in another version of the resource, until this version is synced.
    std::map<std::pair<std::string, std::string>, ObjectPtr> delivered_;

    // Guarded by the mutex; the first two are changed on the strand only.
    std::unique_ptr<KindView> view_;
    std::shared_ptr<ResourceSearch> search_;          // null: the kind is known
    std::optional<std::vector<ObjectChange>> state_;  // until the host has received it
    PendingObjects pending_;                          // changes since the state was delivered
    KnownServer server_;
};

ObjectWatch::ObjectWatch(executor_type executor, Kind kind, const WatcherConfig& config,
                         Receiver receiver) {
    check_host_executor(executor, "Watcher");
    check_wanted_objects(kind, config);
    impl_ = std::make_shared<Impl>(executor, kind, config, std::move(receiver));
}

ObjectWatch& ObjectWatch::operator=(ObjectWatch&& other) noexcept {
    take_over(impl_, other.impl_);
    return *this;
}

ObjectWatch::~ObjectWatch() { cancel(); }

ObjectWatch::executor_type ObjectWatch::get_executor() const noexcept { return impl_->executor(); }

void ObjectWatch::set_status_callback(StatusCallback callback) {
    impl_->set_status_callback(std::move(callback));
}

void ObjectWatch::report_moves() { impl_->report_moves(); }

void ObjectWatch::set_contact_callback(std::function<void(TimePoint)> callback) {
    impl_->set_contact_callback(std::move(callback));
}

void ObjectWatch::run(const std::shared_ptr<Impl>& impl, Handler handler) {
    impl->run(std::move(handler));
}

void ObjectWatch::wait_synced(const std::shared_ptr<Impl>& impl, Handler handler) {
    impl->wait_synced(std::move(handler));
}

void ObjectWatch::read(const std::shared_ptr<Impl>& impl, std::unique_ptr<Reader<News>> reader) {
    impl->read(std::move(reader));
}

void ObjectWatch::cancel() noexcept {
    if (impl_) impl_->cancel();
}

DiscovererStatus ObjectWatch::status() const { return impl_->status(); }

}  // namespace k8s_sd::inline v0::detail
