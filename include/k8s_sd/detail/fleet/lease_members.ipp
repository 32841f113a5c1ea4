#include "k8s_sd/detail/async/operation.hpp"
#include "k8s_sd/detail/async/reminder.hpp"
#include "k8s_sd/detail/async/strand.hpp"
#include "k8s_sd/detail/client/api_client_impl.hpp"
#include "k8s_sd/detail/client/context_environment.hpp"
#include "k8s_sd/detail/fleet/fleet_place.hpp"
#include "k8s_sd/detail/fleet/lease_keeper.hpp"
#include "k8s_sd/detail/fleet/leases.hpp"
#include "k8s_sd/detail/hosts/object_watch.hpp"
#include "k8s_sd/detail/hosts/watched_objects.hpp"
#include "k8s_sd/detail/text/kubernetes_names.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/fleet/member_source.hpp"
#include "k8s_sd/objects/generic.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0 {

namespace {

LeaseMembersConfig checked_leases(LeaseMembersConfig config) {
    if (!detail::is_dns_label(config.fleet)) {
        throw ConfigError("fleet",
                          "must be a name of small letters, digits and '-', as \"agents\"");
    }
    if (config.self.size() > 180 || !detail::is_dns_subdomain(config.self)) {
        throw ConfigError("self", "must be the name of a pod: small letters, digits, '-' and '.'");
    }
    if (config.interval <= Duration::zero()) {
        throw ConfigError("interval", "must be greater than zero");
    }
    if (config.duration < 2 * config.interval) {
        throw ConfigError("duration", "must be twice the interval at least: one renewal may fail");
    }
    WatcherConfig& where = config.where;
    detail::settle_in_one_namespace(where);
    where.resource = {.group = "coordination.k8s.io",
                      .kind = "Lease",
                      .version = "v1",
                      .plural = "leases",
                      .namespaced = true};
    where.label_selector = std::string(detail::fleet_label) + "=" + config.fleet;
    where.field_selector.clear();
    where.fields = Fields({"metadata.annotations", "spec.holderIdentity",
                           "spec.leaseDurationSeconds", "spec.renewTime"});
    return config;
}

class LeaseMembers final : public MemberSource, public std::enable_shared_from_this<LeaseMembers> {
 public:
    LeaseMembers(const asio::any_io_executor& executor, const LeaseMembersConfig& config)
        : LeaseMembers(asio::any_io_executor(asio::make_strand(executor)), config,
                       detail::ContextEnvironment::of(executor).with_new_seed()) {}

    void start(Callback callback) override {
        asio::post(strand_, [self = shared_from_this(), callback = std::move(callback)]() mutable {
            self->begin(std::move(callback));
        });
    }
    void stop() noexcept override {
        watcher_.cancel();
        end_post_.post(strand_, [self = shared_from_this()] {
            self->stopped_ = true;
            self->keeper_->stop();
            self->timer_->cancel();
            self->callback_ = nullptr;
        });
    }
    void announce(MemberState state) override {
        asio::post(strand_, [self = shared_from_this(), state] { self->keeper_->announce(state); });
    }
    std::string identity() const override { return identity_; }

 private:
    LeaseMembers(asio::any_io_executor strand, const LeaseMembersConfig& config,
                 Environment environment)
        : LeaseMembers(strand, config, environment,
                       detail::resolve_scope(config.where, environment.in_cluster)) {}
    LeaseMembers(const asio::any_io_executor& strand, const LeaseMembersConfig& config,
                 const Environment& environment, const WatchScope& scope)
        : fleet_(config.fleet),
          namespaces_(scope.namespaces),
          server_(scope.api_server),
          identity_(identity_now()),
          strand_(strand),
          clock_(environment.clock),
          timer_(clock_->make_timer(strand)),
          sights_(config.self),
          keeper_(std::make_shared<detail::LeaseKeeper>(
              detail::make_shared_client(strand, scope.api_server, environment),
              detail::LeaseRecord{.fleet = config.fleet,
                                  .ns = scope.namespaces.front(),
                                  .member = config.self,
                                  .duration = config.duration,
                                  .pod_uid = config.pod_uid},
              config.interval, [this] { report(); })),
          watcher_(strand, api::kind_of<Generic>, config.where,
                   {[this](const detail::ObjectWatch::News& news) { take(news); },
                    [this] { report(); }}) {}

    std::string identity_now() const {
        return detail::fleet_identity("leases", fleet_, server_, namespaces_);
    }

    void begin(Callback callback) {
        if (stopped_) return;
        callback_ = std::move(callback);
        watcher_.report_moves();
        watcher_.set_status_callback([this](const DiscovererStatus& status) { on_status(status); });
        watcher_.async_run([self = shared_from_this()](error_code) {});
        keeper_->start();
    }

    void take(const detail::ObjectWatch::News& news) {
        const TimePoint now = clock_->now();
        if (news.full) sights_.clear();
        for (const auto& [before, after] : news.changes) {
            // If another Lease takes the name, this one is still gone.
            if (before && !(after && before->same_uid(*after)))
                sights_.remove(std::string(before->name()));
            if (!after) continue;
            const auto* lease = static_cast<const Generic*>(after->api_object().get());
            sights_.put(std::string(after->name()), detail::read_lease(*lease), !news.full, now);
        }
        known_ = true;
        if (news.server) server_ = *news.server;
    }
    void on_status(const DiscovererStatus& status) {
        error_ = status.error ? status.message : std::string();
        report();
    }

    void report() {
        if (!callback_) return;
        const TimePoint now = clock_->now();
        FleetSighting sighting;
        // While this member's own renewals fail or are not seen, missing ones prove nothing.
        const bool renews = keeper_->problem().empty() && sights_.sees_itself(now);
        if (in_sight_) sights_.expire(now);
        sighting.in_sight = known_ && error_.empty() && renews && (begun_ || sights_.is_whole(now));
        if (sighting.in_sight && !in_sight_ && std::exchange(begun_, true))
            sights_.begin_again(now);
        in_sight_ = sighting.in_sight;
        sighting.message = error_.empty() ? keeper_->problem() : error_;
        sighting.members = sights_.members(now);
        sighting.identity = identity_now();
        report_at(sights_.next_expiry(now));
        callback_(sighting);
    }
    void report_at(std::optional<TimePoint> when) {
        if (!when) return timer_->cancel();
        timer_->expires_at(*when, detail::if_alive(weak_from_this(), &LeaseMembers::report));
    }

    const std::string fleet_;
    const std::vector<std::string> namespaces_;
    detail::ServerIdentity server_;  // the server of the Leases; used on the strand only
    const std::string identity_;     // the initial identity
    const asio::any_io_executor strand_;
    const std::shared_ptr<Clock> clock_;
    detail::Reminder end_post_{clock_};
    // Used on the strand only.
    const std::unique_ptr<Timer> timer_;
    Callback callback_;
    bool known_ = false;
    bool in_sight_ = false;
    bool begun_ = false;  // the members have been in sight before
    bool stopped_ = false;
    std::string error_;  // empty: none
    detail::LeaseSights sights_;
    std::shared_ptr<detail::LeaseKeeper> keeper_;
    detail::ObjectWatch watcher_;
};

}  // namespace

std::shared_ptr<MemberSource> lease_members(asio::any_io_executor executor,
                                            LeaseMembersConfig config) {
    detail::check_host_executor(executor, "lease_members");
    return std::make_shared<LeaseMembers>(executor, checked_leases(std::move(config)));
}

}  // namespace k8s_sd::inline v0
