#include "member.hpp"

#include "k8s_sd/environment.hpp"

#include <boost/asio/detached.hpp>
#include <charconv>
#include <functional>
#include <utility>

namespace bench {

namespace asio = k8s_sd::asio;

namespace {

k8s_sd::ScrapeConfig job(const MemberSetup& setup) {
    k8s_sd::ScrapeConfig config;
    config.job_name = setup.discovery.name;
    config.scrape_interval = std::chrono::duration_cast<std::chrono::milliseconds>(setup.interval);
    return config;
}

k8s_sd::MembershipConfig membership(asio::io_context& context, const MemberSetup& setup,
                                    std::string name) {
    k8s_sd::WatcherConfig where;
    where.api_server.url = setup.url;
    where.namespaces = {"monitoring"};
    k8s_sd::MembershipConfig config;
    config.self = name;
    config.replicas = setup.replicas;
    if (setup.provider == Provider::slices) {
        config.source = k8s_sd::service_members(context.get_executor(), "agents", where);
    } else {
        config.source = k8s_sd::lease_members(
            context.get_executor(), {.fleet = "agents", .self = std::move(name), .where = where});
        // The hold-down begins when a Lease has expired.
        config.rules.hold_down = std::chrono::seconds(5);
    }
    return config;
}

}  // namespace

Member::Context::Context(const MemberSetup& setup, const std::string& name,
                         std::shared_ptr<Link> link)
    : work(get_executor()) {
    k8s_sd::Environment environment;
    environment.clock = setup.clock;
    environment.connector = std::move(link);
    environment.logger.level = k8s_sd::LogLevel::error;
    environment.seed = std::hash<std::string>()(name) | 1U;
    k8s_sd::install(*this, std::move(environment));
}

Member::Member(const MemberSetup& setup, std::string name, std::shared_ptr<Link> link)
    : setup_(setup),
      link_(std::move(link)),
      context_(setup, name, link_),
      pool_(job(setup), *this),
      timer_(setup.clock->make_timer(context_.get_executor())),
      membership_(context_.get_executor(), membership(context_, setup, name),
                  [this](const k8s_sd::FleetShare& now) { share(now); }),
      manager_(context_.get_executor(), [this](const k8s_sd::JobDiff& diff) {
          pool_.apply(diff);
          membership_.set_synced();
      }) {
    share(membership_.share());
    membership_.async_run(asio::detached);
    manager_.apply_config({setup.discovery});
    manager_.async_run(asio::detached);
}

Member::~Member() {
    const TimePoint now = setup_.clock->now();
    for (const auto& target : pool_.active()) setup_.tally->stop(number_of(*target), now);
}

std::size_t Member::view_size() const {
    const k8s_sd::FleetViewPtr view = membership_.share().view();
    return view ? view->size() : 0;
}

void Member::start(k8s_sd::TargetId, const k8s_sd::ScrapeTargetPtr& target) noexcept {
    setup_.tally->start(number_of(*target), setup_.clock->now());
}

void Member::stop(k8s_sd::TargetId, const k8s_sd::ScrapeTargetPtr& target,
                  k8s_sd::StopReason) noexcept {
    setup_.tally->stop(number_of(*target), setup_.clock->now());
}

/// Group names end in the number: "…-0042".
std::size_t Member::number_of(const k8s_sd::ScrapeTarget& target) const {
    const std::string_view source = target.source();
    const std::string_view digits = source.substr(source.rfind('-') + 1);
    std::size_t group = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), group);
    return group * setup_.targets_of_group + target.index();
}

void Member::share(const k8s_sd::FleetShare& share) {
    pool_.share(share, setup_.clock->now());
    finish_handovers_later();
}

void Member::finish_handovers_later() {
    const auto next = pool_.next_handover();
    if (!next) return timer_->cancel();
    timer_->expires_at(*next, [this] {
        pool_.finish_handovers(setup_.clock->now());
        finish_handovers_later();
    });
}

}  // namespace bench
