#include "k8s_sd/detail/base/host_arguments.hpp"
#include "k8s_sd/detail/base/host_handle.hpp"
#include "k8s_sd/detail/groups/discoverer_status.hpp"
#include "k8s_sd/detail/groups/group_registry.hpp"
#include "k8s_sd/detail/groups/kind_view.hpp"
#include "k8s_sd/detail/hosts/object_watch.hpp"
#include "k8s_sd/detail/hosts/pending_objects.hpp"
#include "k8s_sd/detail/hosts/resource_search.hpp"
#include "k8s_sd/detail/hosts/watched_objects.hpp"
#include "k8s_sd/detail/net/context_environment.hpp"

#include <boost/asio/post.hpp>
#include <mutex>
#include <optional>
#include <utility>

namespace k8s_sd::inline v0::detail {

class ObjectWatch::Impl final : public HostHandle<ObjectWatch::News>, public KindView::Observer {
 public:
    Impl(const executor_type& executor, Kind kind, const WatcherConfig& config, Callback callback)
        : Impl(executor, kind, config, std::move(callback), Inputs(executor, config)) {}

    DiscovererStatus status() const override {
        std::vector<WatchStatus> watches;
        const std::lock_guard lock(mutex_);
        if (cancelled()) return discoverer_status({});
        if (search_) watches.push_back(search_->status());
        if (view_) view_->add_status(watches);
        return discoverer_status(std::move(watches));
    }

 private:
    /// What is read once, before anything is made.
    struct Inputs {
        Inputs(const executor_type& executor, const WatcherConfig& config)
            : scope(resolve_scope(config, ContextEnvironment::of(executor).in_cluster())),
              watches(GroupRegistry::watches_on(executor, scope)) {}
        WatchScope scope;
        std::shared_ptr<SharedWatches> watches;
    };

    Impl(const executor_type& executor, Kind kind, const WatcherConfig& config, Callback callback,
         const Inputs& inputs)
        : HostHandle(executor, inputs.watches->strand(), inputs.watches->environment().clock,
                     config.min_update_interval, callback != nullptr),
          kind_(kind),
          resource_(config.resource),
          wanted_{inputs.scope.namespaces, config.label_selector, config.field_selector, true,
                  config.fields},
          callback_(std::move(callback)),
          watches_(inputs.watches) {}

    void begin() override {
        asio::post(watches_->strand(), [self = self_as(this)] { self->start(); });
    }
    void end() noexcept override {
        asio::post(watches_->strand(), [self = self_as(this)] { self->stop(); });
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
            });
    }

    void watch(Kind kind) {
        if (cancelled()) return;
        auto view = std::make_unique<KindView>(watches_->for_hosts(kind), wanted_,
                                               static_cast<KindView::Observer&>(*this));
        const std::lock_guard lock(mutex_);
        search_.reset();
        view_ = std::move(view);
    }

    void stop() {
        if (search_) search_->cancel();
        std::unique_ptr<KindView> view;
        const std::lock_guard lock(mutex_);
        view.swap(view_);
        search_.reset();
        state_.reset();
        pending_ = {};
    }

    void on_change(const ObjectChange& change) override {
        if (!known_) return;  // a part of the first state
        const std::lock_guard lock(mutex_);
        pending_.add(change, [this](const Object& before, const Object& after) {
            return view_->tells_apart(before, after);
        });
    }

    void on_batch_end() override {
        if (!known_ && !view_->synced()) return;
        const bool is_first = !std::exchange(known_, true);
        {
            const std::lock_guard lock(mutex_);
            if (is_first) {
                state_.emplace();
                view_->for_each([&](const ObjectPtr& object) {
                    state_->push_back({nullptr, object});
                });
            }
            if (has_news() && !cancelled()) wake();
        }
        if (is_first) on_first_state();
    }

    void on_status() override { on_status_change(); }

    // --- delivery -----------------------------------------------------------------------------

    bool has_news() const override { return state_ || !pending_.empty(); }

    News take_news() override {
        if (!state_) return {false, pending_.take()};
        News first{true, std::move(*state_)};
        state_.reset();
        return first;
    }

    void call(const News& news) override { callback_(news); }

    const Kind kind_;  ///< any_other_kind: that of the resource
    const ResourceName resource_;
    const WantedObjects wanted_;
    const Callback callback_;
    const std::shared_ptr<SharedWatches> watches_;
    bool known_ = false;  ///< the host was told of the complete state, or will be; of the strand

    // Guarded by the mutex; the first two are changed on the strand only.
    std::unique_ptr<KindView> view_;
    std::shared_ptr<ResourceSearch> search_;          // null: the kind is known
    std::optional<std::vector<ObjectChange>> state_;  // until the host has been told of it
    PendingObjects pending_;                          // since then
};

ObjectWatch::ObjectWatch(executor_type executor, Kind kind, const WatcherConfig& config,
                         Callback callback) {
    check_host_executor(executor, "Watcher");
    check_wanted_objects(kind, config);
    impl_ = std::make_shared<Impl>(executor, kind, config, std::move(callback));
}

ObjectWatch& ObjectWatch::operator=(ObjectWatch&& other) noexcept {
    if (this != &other) {
        cancel();
        impl_ = std::move(other.impl_);
    }
    return *this;
}

ObjectWatch::~ObjectWatch() { cancel(); }

ObjectWatch::executor_type ObjectWatch::get_executor() const noexcept { return impl_->executor(); }

void ObjectWatch::set_status_callback(StatusCallback callback) {
    impl_->set_status_callback(std::move(callback));
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
