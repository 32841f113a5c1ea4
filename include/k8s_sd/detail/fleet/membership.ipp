#include "k8s_sd/detail/async/operation.hpp"
#include "k8s_sd/detail/async/run_state.hpp"
#include "k8s_sd/detail/async/strand.hpp"
#include "k8s_sd/detail/client/context_environment.hpp"
#include "k8s_sd/detail/fleet/fleet_gauges.hpp"
#include "k8s_sd/detail/fleet/hold_report.hpp"
#include "k8s_sd/detail/fleet/kept_view.hpp"
#include "k8s_sd/detail/fleet/own_state.hpp"
#include "k8s_sd/detail/fleet/view_machine.hpp"
#include "k8s_sd/detail/labels/label_block.hpp"
#include "k8s_sd/fleet/membership.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <mutex>
#include <optional>
#include <string>
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

    FleetShare share() const {
        const std::lock_guard lock(mutex_);
        return share_;
    }
    FleetStatus status() const {
        const std::lock_guard lock(mutex_);
        FleetStatus status = status_;
        status.ready = own_.is_ready();
        if (kept_) status.snapshot = kept_->words();
        return status;
    }
    bool ready() const {
        const std::lock_guard lock(mutex_);
        return own_.is_ready();
    }
    void leave() {
        {
            const std::lock_guard lock(mutex_);
            if (!own_.leave()) return;
        }
        announce();
    }
    void set_synced(bool synced) {
        {
            const std::lock_guard lock(mutex_);
            own_.set_synced(synced);
        }
        announce_readiness();
    }

 private:
    Impl(const executor_type& executor, MembershipConfig config, Callback callback,
         const detail::ContextEnvironment& environment)
        : RunState(executor, asio::make_strand(executor), environment.clock(), 1),
          strand_(origin()),
          log_(environment.logger()),
          config_(std::move(config)),
          callback_(std::move(callback)),
          kept_(kept_view(environment)),
          machine_(config_.rules, config_.self, clock().now()),
          fleet_(view_identity(config_, config_.source->identity())),
          share_(nullptr, config_.self, config_.replicas),
          gauges_(environment.metrics()) {
        status_.since = clock().now();
        status_.message = report_.words(ViewHold::unknown);
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

    void announce_readiness() {
        {
            const std::lock_guard lock(mutex_);
            if (!own_.note_readiness()) return;
        }
        announce();
    }
    /// Announces states in order, one at a time. Without the mutex: the source may be host code,
    /// and may call this membership.
    void announce() {
        const auto self = shared_from_this();
        std::unique_lock lock(mutex_);
        if (!own_.begin_announcing()) return;
        while (const auto state = own_.next()) {
            lock.unlock();
            try {
                config_.source->announce(*state);
            } catch (...) {
                lock.lock();
                own_.stop_announcing();
                throw;
            }
            lock.lock();
        }
    }

    void begin() override {
        asio::post(strand_, [self = self_as(this)] { self->start(); });
    }
    void on_ended() noexcept override {
        config_.source->stop();
        post_end(strand_, [self = self_as(this)] { self->stop(); });
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
        report_.set_reason(sighting.message);
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
        bool seen = false;
        {
            const std::lock_guard lock(mutex_);
            is_new = machine_.view() != status_.view;
            update_status();
            seen = own_.seen();
        }
        // Log without the mutex: the logger is host code.
        const ViewHold hold = machine_.hold();
        if (report_.is_to_log(hold, seen, clock().now()))
            log_.log(LogLevel::warning, LogEvent::fleet_view_held,
                     "fleet: the view is held: " + report_.words(hold));
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
        if (machine_.in_sight()) own_.on_seen();
        status_.members = machine_.members();
        const ViewHold hold = machine_.hold();
        if (std::exchange(status_.hold, hold) != hold) {
            status_.since = clock().now();
            gauges_.on_hold(is_alarm(hold));
        }
        status_.message = report_.words(hold);
        if (machine_.view() == status_.view) return;
        status_.view = machine_.view();
        ++status_.views;
        gauges_.on_view(*status_.view);
        share_ = FleetShare(status_.view, config_.self, config_.replicas);
        has_news_ = true;
        wake();
    }

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
    const Logger log_;
    const MembershipConfig config_;
    const Callback callback_;
    const std::shared_ptr<detail::KeptView> kept_;

    // Used on the strand only.
    detail::ViewMachine machine_;
    detail::Digest fleet_;          // the visible fleet, and this member's place
    bool is_kept_ = true;           // the view was stored, for this fleet
    std::unique_ptr<Timer> timer_;  // null: not begun, or ended
    detail::HoldReport report_;

    // Guarded by the mutex.
    FleetShare share_;
    FleetStatus status_;
    detail::OwnState own_;
    detail::FleetGauges gauges_;
    bool has_news_ = false;
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
