#include "k8s_sd/detail/async/host_arguments.hpp"
#include "k8s_sd/detail/async/if_alive.hpp"
#include "k8s_sd/detail/async/run_state.hpp"
#include "k8s_sd/detail/client/context_environment.hpp"
#include "k8s_sd/detail/fleet/kept_view.hpp"
#include "k8s_sd/detail/fleet/view_machine.hpp"
#include "k8s_sd/detail/labels/label_block.hpp"
#include "k8s_sd/fleet/membership.hpp"
#include "k8s_sd/metrics.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0 {

namespace {

MembershipConfig checked(MembershipConfig config) {
    const FleetRules& rules = config.rules;
    if (!config.source)
        throw ConfigError("source", "needs a source of members, such as service_members()");
    if (config.self.empty()) throw ConfigError("self", "must be the name of this member");
    if (config.replicas == 0) throw ConfigError("replicas", "must be at least 1");
    for (const Duration wait : {rules.debounce, rules.debounce_limit, rules.hold_down,
                                rules.alarm_hold, rules.wait_timeout}) {
        if (wait < Duration::zero()) throw ConfigError("rules", "a time must not be negative");
    }
    if (config.snapshot_max_age < Duration::zero()) {
        throw ConfigError("snapshot_max_age", "must not be negative");
    }
    return config;
}

/// Explains a hold to users, and its remedy. Empty for ViewHold::none.
/// \param reason  why the members cannot be seen; empty: unknown
std::string hold_in_words(ViewHold hold, std::string_view reason) {
    const std::string why = reason.empty() ? "" : ": " + std::string(reason);
    switch (hold) {
        case ViewHold::none: break;
        case ViewHold::unknown: return "the members have not been seen yet" + why;
        case ViewHold::no_active_member: return "no member is ready yet";
        case ViewHold::wait_for_size: return "fewer members are ready than wait_for_size says";
        case ViewHold::away: return "the members cannot be seen now" + why;
        case ViewHold::debounce: return "a change has been seen, and may be followed by others";
        case ViewHold::hold_down: return "a member has vanished, and may be back";
        case ViewHold::empty: return "no member is left, which is hard to believe";
        case ViewHold::self_missing:
            return "this member is not among those that are seen; look whether its name is that of "
                   "its pod, and whether the Service selects the pod";
        case ViewHold::shrunken:
            return "more than half of the members have vanished at once, which is hard to believe";
    }
    return {};
}

/// Digest of the fleet, and of this member's place in it.
detail::Digest view_identity(const MembershipConfig& config, const std::string& fleet) {
    std::string text;
    detail::pack_value(text, fleet);
    detail::pack_value(text, config.self);
    return detail::digest_of(text += std::to_string(config.replicas));
}

}  // namespace

class Membership::Impl final : public detail::RunState {
 public:
    Impl(const executor_type& executor, MembershipConfig config, Callback callback)
        : Impl(executor, checked(std::move(config)), std::move(callback),
               detail::ContextEnvironment::of(executor)) {}

    ~Impl() override {
        set(metrics_->fleet_alarms, counted_alarms_, 0);
        set(metrics_->fleet_members, counted_members_, 0);
    }

    FleetShare share() const {
        const std::lock_guard lock(mutex_);
        return share_;
    }
    FleetStatus status() const {
        const std::lock_guard lock(mutex_);
        FleetStatus status = status_;
        status.ready = is_ready();
        if (kept_) status.snapshot = kept_->words();
        return status;
    }
    bool ready() const {
        const std::lock_guard lock(mutex_);
        return is_ready();
    }
    void leave() {
        {
            const std::lock_guard lock(mutex_);
            if (std::exchange(left_, true)) return;
            announcements_.push_back(MemberState::leaving);
        }
        announce();
    }
    void set_synced(bool synced) {
        {
            const std::lock_guard lock(mutex_);
            synced_ = synced;
        }
        announce_readiness();
    }

 private:
    Impl(const executor_type& executor, MembershipConfig config, Callback callback,
         const detail::ContextEnvironment& environment)
        : RunState(executor, asio::make_strand(executor), environment.clock(), 1),
          strand_(origin()),
          metrics_(environment.metrics()),
          log_(environment.logger()),
          config_(std::move(config)),
          callback_(std::move(callback)),
          kept_(kept_view(environment)),
          machine_(config_.rules, config_.self, clock().now()),
          fleet_(view_identity(config_, config_.source->identity())),
          share_(nullptr, config_.self, config_.replicas) {
        status_.since = clock().now();
        status_.message = hold_in_words(ViewHold::unknown, {});
    }

    std::weak_ptr<Impl> weak() { return self_as(this); }

    /// Null: the view is not stored.
    std::shared_ptr<detail::KeptView> kept_view(
        const detail::ContextEnvironment& environment) const {
        if (config_.snapshot_directory.empty()) return nullptr;
        return std::make_shared<detail::KeptView>(
            strand_, environment,
            detail::ViewFile{.directory = config_.snapshot_directory,
                             .max_age = config_.snapshot_max_age});
    }

    /// A member that has left stays away.
    void announce_readiness() {
        {
            const std::lock_guard lock(mutex_);
            const bool now = is_ready();
            if (left_ || std::exchange(announced_, now) == now) return;
            announcements_.push_back(now ? MemberState::active : MemberState::joining);
        }
        announce();
    }
    /// Announces states in order, one at a time. Without the mutex: the source may be host code,
    /// and may call this membership.
    void announce() {
        const auto self = shared_from_this();
        std::unique_lock lock(mutex_);
        if (std::exchange(announcing_, true)) return;
        while (!announcements_.empty()) {
            const MemberState state = announcements_.front();
            announcements_.pop_front();
            lock.unlock();
            try {
                config_.source->announce(state);
            } catch (...) {
                lock.lock();
                announcing_ = false;
                throw;
            }
            lock.lock();
        }
        announcing_ = false;
    }

    void begin() override {
        asio::post(strand_, [self = self_as(this)] { self->start(); });
    }
    void on_ended() noexcept override {
        config_.source->stop();
        asio::post(strand_, [self = self_as(this)] { self->stop(); });
    }

    // --- on the strand ------------------------------------------------------------------------

    void start() {
        if (cancelled()) return;
        timer_ = clock().make_timer(strand_);
        if (kept_) {
            kept_->load(fleet_, detail::if_alive(weak(), &Impl::remember));
        }
        // Pass a weak reference: the source must not own this object, its owner.
        config_.source->start([weak = weak(), strand = strand_](const FleetSighting& sighting) {
            asio::post(strand, [weak, sighting] {
                if (const auto self = weak.lock()) self->on_sighting(sighting);
            });
        });
    }

    void stop() {
        timer_.reset();
        if (kept_) kept_->stop();
    }

    void remember(const FleetViewPtr& known) {
        machine_.remember(known, clock().now());
        follow();
    }

    void on_sighting(const FleetSighting& sighting) {
        if (!timer_) return;
        if (sighting.in_sight && !sighting.identity.empty()) note_fleet(sighting.identity);
        if (sighting.in_sight) {
            machine_.see(sighting.members, clock().now());
        } else {
            machine_.lose_sight(clock().now());
        }
        message_ = sighting.message;
        follow();
    }

    /// The watches of the source may have moved to another cluster.
    void note_fleet(const std::string& identity) {
        const detail::Digest fleet = view_identity(config_, identity);
        if (std::exchange(fleet_, fleet) == fleet) return;
        if (kept_) kept_->forget();
        is_kept_ = false;
    }

    /// Stores only a settled view: any other may belong to a different fleet.
    void keep(bool is_new) {
        if (!kept_ || !machine_.view()) return;
        const bool settled = machine_.in_sight() && machine_.hold() == ViewHold::none;
        if (!is_new && (is_kept_ || !settled)) return;
        is_kept_ = true;
        kept_->keep(fleet_, machine_.view());
    }

    /// Publishes the new state of the machine.
    void follow() {
        bool is_new = false;
        {
            const std::lock_guard lock(mutex_);
            is_new = machine_.view() != status_.view;
            update_status();
        }
        // Log without the mutex: the logger is host code.
        log_hold(machine_.hold());
        if (kept_ && machine_.in_sight()) kept_->on_seen();
        keep(is_new);
        announce_readiness();
        if (const auto next = machine_.next()) {
            timer_->expires_at(*next, [weak = weak()] {
                const auto self = weak.lock();
                if (!self || !self->timer_) return;
                self->machine_.advance(self->clock().now());
                self->follow();
            });
        } else {
            timer_->cancel();
        }
    }

    void update_status() {
        seen_ = seen_ || machine_.in_sight();
        status_.members = machine_.members();
        const ViewHold hold = machine_.hold();
        if (std::exchange(status_.hold, hold) != hold) {
            status_.since = clock().now();
            set(metrics_->fleet_alarms, counted_alarms_, is_alarm(hold) ? 1 : 0);
        }
        status_.message = hold_in_words(hold, message_);
        if (machine_.view() == status_.view) return;
        status_.view = machine_.view();
        ++status_.views;
        metrics_->fleet_views.fetch_add(1, std::memory_order_relaxed);
        set(metrics_->fleet_members, counted_members_,
            static_cast<std::int64_t>(status_.view->size()));
        constexpr std::uint64_t exact = (std::uint64_t{1} << 48U) - 1;
        metrics_->fleet_epoch.store(static_cast<std::int64_t>(status_.view->epoch() & exact),
                                    std::memory_order_relaxed);
        share_ = FleetShare(status_.view, config_.self, config_.replicas);
        has_news_ = true;
        wake();
    }

    /// Logs the same hold at most once a minute, however often it comes and goes.
    void log_hold(ViewHold hold) {
        // With the view of a file the source may not have answered yet.
        if (hold == ViewHold::away && !seen_ && message_.empty()) return;
        if (std::exchange(logged_hold_, hold) == hold) return;
        if (!is_alarm(hold) && hold != ViewHold::away) return;
        const TimePoint now = clock().now();
        const auto last = logged_.find(hold);
        if (last != logged_.end() && now - last->second < std::chrono::minutes(1)) return;
        logged_.insert_or_assign(hold, now);
        log_.log(LogLevel::warning,
                 "fleet: the view stays as it is: " + hold_in_words(hold, message_));
    }

    /// Adds the difference, because all memberships of a context share the gauge.
    static void set(Metrics::Gauge& gauge, std::int64_t& counted, std::int64_t now) noexcept {
        gauge.fetch_add(now - std::exchange(counted, now), std::memory_order_relaxed);
    }

    bool is_ready() const { return synced_ && seen_; }

    // --- delivery -----------------------------------------------------------------------------

    bool deliver_next(TimePoint) override {
        std::optional<FleetShare> share;
        {
            const std::lock_guard lock(mutex_);
            if (!std::exchange(has_news_, false) || cancelled()) return false;
            share = share_;
        }
        callback_(*share);
        return true;
    }
    std::optional<TimePoint> next_due(TimePoint now) override {
        const std::lock_guard lock(mutex_);
        return has_news_ ? std::optional(now) : std::nullopt;
    }

    const asio::any_io_executor strand_;
    const std::shared_ptr<Metrics> metrics_;
    const Logger log_;
    const MembershipConfig config_;
    const Callback callback_;
    const std::shared_ptr<detail::KeptView> kept_;

    // Used on the strand only.
    detail::ViewMachine machine_;
    detail::Digest fleet_;                      // the visible fleet, and this member's place
    bool is_kept_ = true;                       // the view was stored, for this fleet
    std::unique_ptr<Timer> timer_;              // null: not begun, or ended
    std::string message_;                       // why the members cannot be seen
    ViewHold logged_hold_ = ViewHold::unknown;  // the last hold passed to the log
    std::map<ViewHold, TimePoint> logged_;

    // Guarded by the mutex.
    FleetShare share_;
    FleetStatus status_;
    bool synced_ = false;
    bool seen_ = false;
    std::int64_t counted_alarms_ = 0;
    std::int64_t counted_members_ = 0;
    bool has_news_ = false;
    bool left_ = false;
    bool announced_ = false;                 // as ready
    bool announcing_ = false;                // announce() is running
    std::deque<MemberState> announcements_;  // not yet passed to the source
};

Membership::Membership(executor_type executor, MembershipConfig config, Callback callback) {
    detail::check_host_executor(executor, "Membership");
    detail::check_callback(callback, "Membership");
    impl_ = std::make_shared<Impl>(executor, std::move(config), std::move(callback));
}

Membership& Membership::operator=(Membership&& other) noexcept {
    detail::take_over(impl_, other.impl_);
    return *this;
}

Membership::~Membership() { cancel(); }

Membership::executor_type Membership::get_executor() const noexcept { return impl_->executor(); }

void Membership::run(const std::shared_ptr<Impl>& impl, Handler handler) {
    impl->run(std::move(handler));
}

void Membership::cancel() noexcept {
    if (impl_) impl_->cancel();
}

FleetShare Membership::share() const { return impl_->share(); }
FleetStatus Membership::status() const { return impl_->status(); }
void Membership::set_synced(bool synced) { impl_->set_synced(synced); }
void Membership::leave() { impl_->leave(); }
bool Membership::ready() const { return impl_->ready(); }

}  // namespace k8s_sd::inline v0
