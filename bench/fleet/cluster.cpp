#include "cluster.hpp"

#include "k8s_sd/sim/builders.hpp"
#include "k8s_sd/target_group.hpp"
#include "k8s_sd/target_source.hpp"
#include "measure.hpp"

#include <malloc.h>
#include <algorithm>
#include <stdexcept>
#include <utility>

namespace bench {

using namespace std::chrono_literals;
namespace sim = k8s_sd::sim;

namespace {

sim::ApiServerOptions server_options(const std::shared_ptr<sim::ManualClock>& clock) {
    sim::ApiServerOptions options;
    options.clock = clock;
    return options;
}

std::string address_of(std::size_t number) {
    return "10." + std::to_string(number >> 16) + "." + std::to_string(number >> 8 & 255) + "." +
           std::to_string(number & 255);
}

std::string name_of(unsigned ordinal) { return "agent-" + std::to_string(ordinal); }

double allocated() {
    const auto info = ::mallinfo2();
    return static_cast<double>(info.uordblks + info.hblkhd);
}

/// Whether `time` has passed since `since`; false if `since` is unset.
bool is_over(const std::optional<TimePoint>& since, Duration time, TimePoint now) {
    return since && now >= *since + time;
}

}  // namespace

/// Attributes the cost of the enclosing scope to the members.
class FleetCluster::Meter {
 public:
    explicit Meter(FleetCluster& fleet) : fleet_(fleet), cpu_(thread_cpu_seconds()) {
        if (fleet_.weighs_) memory_ = allocated();
    }
    ~Meter() {
        fleet_.costs_->cpu += thread_cpu_seconds() - cpu_;
        if (fleet_.weighs_) fleet_.costs_->memory += allocated() - memory_;
    }
    Meter(const Meter&) = delete;
    Meter& operator=(const Meter&) = delete;

 private:
    FleetCluster& fleet_;
    const double cpu_;
    double memory_ = 0;
};

FleetCluster::FleetCluster(const Plan& plan, const Pace& pace, std::size_t targets,
                           Discovery discovery, Provider provider)
    : plan_(plan),
      pace_(pace),
      discovery_(discovery),
      clock_(std::make_shared<sim::ManualClock>()),
      server_(context_.get_executor(), server_options(clock_)),
      tally_(targets, plan.replicas),
      wanted_(plan.members) {
    server_.set_intercept([costs = costs_](const sim::Request& request) {
        ++costs->requests;
        const bool asks_version = request.param("limit") == "1";
        const bool lists = !request.is_watch() || request.flag("sendInitialEvents");
        if (lists && !asks_version) ++costs->lists;
        return std::nullopt;
    });
    setup_.clock = clock_;
    setup_.url = server_.url();
    setup_.interval = pace.interval;
    setup_.replicas = plan.replicas;
    setup_.provider = provider;
    setup_.targets_of_group = group_size;
    setup_.tally = &tally_;
    setup_.discovery.name = "job";
    make_targets(targets);
}

FleetCluster::~FleetCluster() = default;

void FleetCluster::make_targets(std::size_t targets) {
    std::vector<k8s_sd::TargetGroupPtr> groups;
    k8s_sd::TargetGroupMaker maker;
    for (std::size_t first = 0; first < targets; first += group_size) {
        const std::string name = "web-" + std::to_string(first / group_size);
        const std::size_t end = std::min(targets, first + group_size);
        if (discovery_ == Discovery::watches) {
            auto slice = sim::endpoint_slice("shop", name, "web").port("metrics", 8080);
            for (std::size_t i = first; i < end; ++i) slice.endpoint(address_of(i));
            server_.apply(std::move(slice));
        } else {
            std::vector<k8s_sd::LabelMap> labels;
            for (std::size_t i = first; i < end; ++i)
                labels.push_back({{"__address__", address_of(i) + ":8080"}});
            groups.push_back(maker.make(name, {{"service", "web"}}, labels));
        }
    }
    if (discovery_ == Discovery::watches) {
        k8s_sd::DiscoveryConfig config;
        config.role = k8s_sd::Role::endpointslice;
        config.api_server.url = server_.url();
        setup_.discovery.configs = {config};
    } else {
        k8s_sd::TargetSource source;
        source.set(groups);
        setup_.discovery.sources = {source};
    }
}

// --- time ---------------------------------------------------------------------------------------

Costs FleetCluster::start() {
    for (unsigned i = 0; !is_quiet(); ++i) {
        if (i == 20 * 600) throw std::runtime_error(plan_.name + ": the fleet does not come to be");
        step();
    }
    weighs_ = false;
    return costs();
}

Outcome FleetCluster::run() {
    *costs_ = {};
    for (auto& [ordinal, link] : links_) link->forget();
    const TimePoint begun = clock_->now();
    tally_.begin(begun);
    auto next = plan_.steps.begin();
    while (clock_->now() < begun + plan_.length) {
        for (; next != plan_.steps.end() && clock_->now() >= begun + next->at; ++next) take(*next);
        step();
    }
    return tally_.outcome(clock_->now());
}

Costs FleetCluster::costs() const {
    Costs costs = *costs_;
    for (const auto& [ordinal, link] : links_) costs.bytes += link->received();
    return costs;
}

void FleetCluster::step() {
    clock_->advance(tick);
    settle();
    control();
    for (auto it = pods_.begin(); it != pods_.end();) {
        Pod& pod = it->second;
        manage(pod);
        if (ends(pod)) {
            changed_slices_.insert(pod.ordinal / slice_size);
            it = pods_.erase(it);
        } else {
            ++it;
        }
    }
    write_slices();
    settle();
}

void FleetCluster::settle() {
    for (std::size_t ran = 1; ran != 0;) {
        context_.restart();
        ran = context_.poll();
        const Meter meter(*this);
        for (auto& [ordinal, pod] : pods_) {
            if (pod.member) ran += pod.member->poll();
        }
    }
}

bool FleetCluster::is_quiet() const {
    if (pods_.size() != wanted_ || !changed_slices_.empty()) return false;
    for (const auto& [ordinal, pod] : pods_) {
        if (!pod.ready_since || clock_->now() < *pod.ready_since + 60s) return false;
        if (pod.member->view_size() != wanted_) return false;
    }
    return tally_.is_even();
}

void FleetCluster::take(const Step& step) {
    const TimePoint now = clock_->now();
    switch (step.what) {
        case Step::What::restart:
            for (const auto& [ordinal, pod] : pods_) to_restart_.push_back(ordinal);
            return;
        case Step::What::scale: wanted_ = step.value; return;
        case Step::What::crash:
            pods_.at(step.value).member.reset();
            pods_.at(step.value).dead = now;
            return;
        case Step::What::lose_node:
            pods_.at(step.value).member.reset();
            pods_.at(step.value).lost = now;
            return;
        case Step::What::api_away:
            away_ = true;
            server_.accept_connections(false);
            return server_.disconnect_all();
        case Step::What::api_back: away_ = false; return server_.accept_connections(true);
        case Step::What::cut:
            cut_ = step.value;
            for (unsigned i = 0; i < cut_; ++i) links_.at(i)->cut();
            return;
        case Step::What::uncut:
            for (unsigned i = 0; i < cut_; ++i) links_.at(i)->mend();
            cut_ = 0;
            return;
    }
}

// --- the cluster --------------------------------------------------------------------------------

/// Acts as the controller of a StatefulSet with podManagementPolicy Parallel.
void FleetCluster::control() {
    if (away_) return;
    for (unsigned ordinal = 0; ordinal < wanted_; ++ordinal) {
        const auto [it, is_new] = pods_.try_emplace(ordinal);
        if (!is_new) continue;
        it->second.ordinal = ordinal;
        it->second.starts = clock_->now() + pace_.pod_start;
        changed_slices_.insert(ordinal / slice_size);
    }
    for (auto& [ordinal, pod] : pods_) {
        if (ordinal >= wanted_) terminate(pod);
    }
    restart_next();
}

void FleetCluster::restart_next() {
    if (restarting_) {
        const Pod& pod = pods_.at(*restarting_);
        if (pod.terminating || !is_over(pod.ready_since, pace_.min_ready, clock_->now())) return;
        restarting_.reset();
    }
    if (to_restart_.empty()) return;
    restarting_ = to_restart_.back();
    to_restart_.pop_back();
    terminate(pods_.at(*restarting_));
}

void FleetCluster::terminate(Pod& pod) {
    if (pod.terminating) return;
    pod.terminating = clock_->now();
    if (pod.member) pod.member->leave();
    changed_slices_.insert(pod.ordinal / slice_size);
}

/// Acts as kubelet and as the node controller.
void FleetCluster::manage(Pod& pod) {
    const TimePoint now = clock_->now();
    if (is_over(pod.starts, 0s, now)) start_process(pod);
    if (pod.lost) {
        if (is_over(pod.lost, pace_.node_fails, now) && !away_) set_ready(pod, false);
        if (is_over(pod.lost, pace_.eviction, now) && !away_) terminate(pod);
        return;
    }
    if (is_over(pod.dead, pace_.probe_fails, now)) set_ready(pod, false);
    if (is_over(pod.dead, pace_.restart, now)) start_process(pod);
    if (!pod.member || pod.terminating || now < pod.next_probe) return;
    pod.next_probe = now + pace_.probe_period;
    set_ready(pod, pod.member->ready());
}

/// The control plane never observes the end of a pod on a lost node.
bool FleetCluster::ends(const Pod& pod) const {
    return !pod.lost && is_over(pod.terminating, pace_.drain, clock_->now());
}

void FleetCluster::start_process(Pod& pod) {
    pod.starts.reset();
    pod.dead.reset();
    pod.next_probe = clock_->now() + pace_.probe_period;
    const Meter meter(*this);
    pod.member = std::make_unique<Member>(setup_, name_of(pod.ordinal), link_of(pod.ordinal));
}

void FleetCluster::set_ready(Pod& pod, bool ready) {
    if (ready == pod.ready_since.has_value()) return;
    pod.ready_since.reset();
    if (ready) pod.ready_since = clock_->now();
    changed_slices_.insert(pod.ordinal / slice_size);
}

/// Acts as the EndpointSlice controller, which writes a slice at most once a second.
void FleetCluster::write_slices() {
    if (away_) return;
    for (auto it = changed_slices_.begin(); it != changed_slices_.end();) {
        const unsigned number = *it;
        TimePoint& written = written_[number];
        if (clock_->now() < written + 1s) {
            ++it;
            continue;
        }
        written = clock_->now();
        it = changed_slices_.erase(it);
        auto slice =
            sim::endpoint_slice("monitoring", "agents-" + std::to_string(number), "agents");
        const auto end = pods_.lower_bound((number + 1) * slice_size);
        for (auto pod = pods_.lower_bound(number * slice_size); pod != end; ++pod) {
            const bool serving = pod->second.ready_since.has_value();
            const bool terminating = pod->second.terminating.has_value();
            slice.endpoint(address_of(pod->first))
                .pod(name_of(pod->first), "uid-" + std::to_string(pod->first))
                .ready(serving && !terminating)
                .serving(serving)
                .terminating(terminating);
        }
        server_.apply(std::move(slice));
    }
}

/// Spreads the delays over the members identically in each run.
std::shared_ptr<Link> FleetCluster::link_of(unsigned ordinal) {
    std::shared_ptr<Link>& link = links_[ordinal];
    if (!link) {
        const Duration delay = plan_.slowest * (ordinal * 7 % 10) / 9;
        link = std::make_shared<Link>(server_.connector(), clock_, delay);
    }
    return link;
}

}  // namespace bench
