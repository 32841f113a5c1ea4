#include "k8s_sd/detail/base/delivery.hpp"
#include "k8s_sd/detail/base/host_arguments.hpp"
#include "k8s_sd/detail/base/operation.hpp"
#include "k8s_sd/detail/base/waiting_time.hpp"
#include "k8s_sd/detail/groups/discoverer_status.hpp"
#include "k8s_sd/detail/groups/group_registry.hpp"
#include "k8s_sd/detail/groups/kind_view.hpp"
#include "k8s_sd/detail/hosts/object_watch.hpp"
#include "k8s_sd/detail/hosts/pending_objects.hpp"
#include "k8s_sd/detail/hosts/watched_objects.hpp"
#include "k8s_sd/detail/kinds/object_form.hpp"
#include "k8s_sd/detail/net/context_environment.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <mutex>
#include <optional>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// The state behind a handle. The callback is called without `mutex_`.
class ObjectWatch::Impl final : public KindView::Observer,
                                public Delivery::Source,
                                public std::enable_shared_from_this<Impl> {
 public:
    Impl(const executor_type& executor, Kind kind, const WatcherConfig& config, Callback callback)
        : Impl(executor, kind, config, std::move(callback), Inputs(executor, config)) {}

    const executor_type& executor() const noexcept { return executor_; }

    void run(RunOperation::Handler handler) {
        auto operation =
            std::make_unique<RunOperation>(std::move(handler), executor_, weak_from_this());
        const std::lock_guard lock(mutex_);
        if (operation_)
            return RunOperation::complete(std::move(operation), asio::error::already_started);
        if (delivery_.cancelled())
            return RunOperation::complete(std::move(operation), asio::error::operation_aborted);
        operation_ = std::move(operation);
        asio::post(watches_->strand(), [self = shared_from_this()] { self->start(); });
    }

    void cancel() noexcept {
        const auto self = shared_from_this();
        if (!delivery_.cancel(self)) return;
        asio::post(watches_->strand(), [self] { self->stop(); });
        std::unique_ptr<RunOperation> operation;
        {
            const std::lock_guard lock(mutex_);
            operation = std::move(operation_);
        }
        // Without the mutex: a context that ends destroys the handler at once, and with it perhaps
        // what calls this object.
        if (operation) RunOperation::complete(std::move(operation), asio::error::operation_aborted);
    }

    DiscovererStatus status() const {
        std::vector<WatchStatus> watches;
        const std::lock_guard lock(mutex_);
        if (view_ && !delivery_.cancelled()) view_->add_status(watches);
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
         Inputs inputs)
        : executor_(executor),
          kind_(kind),
          wanted_{inputs.scope.namespaces, config.label_selector, config.field_selector, true,
                  fields_meant(kind, config.fields)},
          callback_(std::move(callback)),
          watches_(std::move(inputs.watches)),
          delivery_(executor_, watches_->strand(), watches_->environment().clock, 1),
          pace_(config.min_update_interval),
          waiting_(watches_->environment().clock, watches_->environment().metrics) {}

    // --- on the strand of the watches ---------------------------------------------------------

    void start() {
        if (delivery_.cancelled()) return;
        auto view = std::make_unique<KindView>(watches_->for_hosts(kind_), wanted_,
                                               static_cast<KindView::Observer&>(*this));
        const std::lock_guard lock(mutex_);
        view_ = std::move(view);
    }

    void stop() {
        std::unique_ptr<KindView> view;
        const std::lock_guard lock(mutex_);
        view.swap(view_);
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
        const std::lock_guard lock(mutex_);
        if (!std::exchange(known_, true)) {
            state_.emplace();
            view_->for_each([&](const ObjectPtr& object) { state_->push_back({nullptr, object}); });
        }
        waiting_.note(has_news());
        if (has_news() && !delivery_.cancelled()) delivery_.wake(shared_from_this());
    }

    // --- delivery -----------------------------------------------------------------------------

    bool tell_next(TimePoint now) override {
        bool full = false;
        std::vector<ObjectChange> changes;
        {
            const std::lock_guard lock(mutex_);
            if (!has_news() || pace_.due(now) > now || delivery_.cancelled()) return false;
            pace_.called(now);
            full = state_.has_value();
            changes = full ? std::move(*state_) : pending_.take();
            if (full) state_.reset();
            waiting_.told(now, has_news());
        }
        callback_(full, changes);
        return true;
    }

    std::optional<TimePoint> next_due(TimePoint now) override {
        const std::lock_guard lock(mutex_);
        if (!has_news()) return std::nullopt;
        return pace_.due(now);
    }

    bool has_news() const { return state_ || !pending_.empty(); }

    const executor_type executor_;
    const Kind kind_;
    const WantedObjects wanted_;
    const Callback callback_;
    const std::shared_ptr<SharedWatches> watches_;
    Delivery delivery_;
    bool known_ = false;  ///< the host was told of the complete state, or will be; of the strand

    mutable std::mutex mutex_;        // guards what follows
    std::unique_ptr<KindView> view_;  // changed on the strand only
    std::unique_ptr<RunOperation> operation_;
    std::optional<std::vector<ObjectChange>> state_;  // until the host has been told of it
    PendingObjects pending_;                          // since then
    Pace pace_;
    WaitingTime waiting_;  // of state_ and pending_
};

ObjectWatch::ObjectWatch(executor_type executor, Kind kind, const WatcherConfig& config,
                         Callback callback) {
    check_host_executor(executor, "Watcher");
    check_callback(callback, "Watcher");
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

void ObjectWatch::run(const std::shared_ptr<Impl>& impl, RunOperation::Handler handler) {
    impl->run(std::move(handler));
}

void ObjectWatch::cancel() noexcept {
    if (impl_) impl_->cancel();
}

DiscovererStatus ObjectWatch::status() const { return impl_->status(); }

}  // namespace k8s_sd::inline v0::detail
