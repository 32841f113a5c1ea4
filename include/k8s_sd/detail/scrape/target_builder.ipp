#include "k8s_sd/detail/base/dialect_rules.hpp"
#include "k8s_sd/detail/base/process_end.hpp"
#include "k8s_sd/detail/scrape/go_bool.hpp"
#include "k8s_sd/detail/scrape/prepared_job.hpp"
#include "k8s_sd/detail/scrape/target_packer.hpp"
#include "k8s_sd/detail/scrape/target_url.hpp"
#include "k8s_sd/detail/text/utf8.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/scrape/duration_text.hpp"
#include "k8s_sd/scrape/target_builder.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace k8s_sd::inline v0 {

namespace {

using Label = MutableLabels::Label;
using std::chrono::milliseconds;

/// The error of a target; empty: none.
using Problem = std::string;

std::shared_ptr<const detail::PreparedJob> make_job(std::shared_ptr<const ScrapeConfig> config) {
    if (!config) throw ConfigError("configuration", "is null");
    validate(*config);
    return std::make_shared<const detail::PreparedJob>(std::move(config));
}

RelabelOptions options_with(const RelabelLimits& limits, const ScrapeConfig& config) {
    RelabelOptions options = relabel_options(config);
    options.limits = limits;
    return options;
}

Problem read_duration_label(const MutableLabels& labels, std::string_view name,
                            LabelDialect dialect, milliseconds fallback, milliseconds& value) {
    const std::string_view text = labels.get(name);
    value = fallback;
    if (text.empty() && detail::rules_of(dialect).falls_back_to_defaults) return {};
    try {
        value = parse_duration(text, dialect);
    } catch (const ConfigError& e) {
        return std::string(name) + " " + e.problem();
    }
    return value.count() > 0 ? Problem() : std::string(name) + " must be longer than 0";
}

Problem read_times(const detail::PreparedJob& job, const MutableLabels& labels,
                   milliseconds& interval, milliseconds& timeout) {
    const LabelDialect dialect = job.config.dialect;
    Problem problem = read_duration_label(labels, detail::interval_label, dialect,
                                          job.config.scrape_interval, interval);
    if (!problem.empty()) return problem;
    problem = read_duration_label(labels, detail::timeout_label, dialect, job.timeout, timeout);
    if (!problem.empty()) return problem;
    const bool strict = detail::rules_of(dialect).refuses_timeout_above_interval;
    if (strict && timeout > interval)
        return "__scrape_timeout__ is longer than __scrape_interval__";
    return {};
}

/// Rules may set the labels about histograms; ScrapeTarget reads them.
Problem check_histogram_labels(const ScrapeConfig& config, const MutableLabels& labels) {
    if (!detail::version_rules_of(detail::dialect_of(config)).has_histogram_labels) return {};
    for (const std::string_view name :
         {detail::convert_histograms_label, detail::classic_histograms_label,
          detail::native_histograms_label}) {
        const std::string_view text = labels.get(name);
        if (text.empty() || detail::parse_go_bool(text)) continue;
        return std::string(name) + " must be true or false";
    }
    return {};
}

/// Memory for the next targets, of any builder: pools are too many to have some of their own. Not
/// destroyed with a thread or by exit(), for the host may build targets while either ends.
class SpareLabels {
 public:
    std::unique_ptr<MutableLabels> take() {
        MutableLabels* const spare = place().exchange(nullptr, std::memory_order_acquire);
        return spare ? std::unique_ptr<MutableLabels>(spare) : std::make_unique<MutableLabels>();
    }
    /// Clears them, because there may be very many.
    void give_back(std::unique_ptr<MutableLabels> labels) noexcept {
        labels->clear();
        delete place().exchange(labels.release(), std::memory_order_acq_rel);
    }

 private:
    static constexpr std::size_t max_places = 16;
    /// Of one thread, or of several if there are many.
    struct alignas(64) Place {
        std::atomic<MutableLabels*> labels = nullptr;
    };
    std::atomic<MutableLabels*>& place() noexcept {
        static std::atomic<std::size_t> threads = 0;
        thread_local const std::size_t mine =
            threads.fetch_add(1, std::memory_order_relaxed) % max_places;
        return places_[mine].labels;
    }

    std::array<Place, max_places> places_{};
};

SpareLabels& spare_labels() {
    static constinit SpareLabels spare;  // no guard, which a forked child might find locked
    return spare;
}

/// The labels of a target being made.
class LabelsOfOneTarget {
 public:
    LabelsOfOneTarget() = default;
    ~LabelsOfOneTarget() { spare_labels().give_back(std::move(labels_)); }
    LabelsOfOneTarget(const LabelsOfOneTarget&) = delete;
    LabelsOfOneTarget& operator=(const LabelsOfOneTarget&) = delete;

    MutableLabels& get() const noexcept { return *labels_; }

 private:
    std::unique_ptr<MutableLabels> labels_ = spare_labels().take();
};

/// Rules are validated to produce valid names, but values may come from anywhere.
Problem check_values(const MutableLabels& labels) {
    for (const Label& label : labels.labels()) {
        if (detail::is_utf8(label.value)) continue;
        return "the value of " + std::string(label.name) + " is not UTF-8";
    }
    return {};
}

/// Describes the owners of a target.
std::string sharding_account(const Sharding& sharding, const MutableLabels& labels) {
    const ShardingOptions& options = sharding.options();
    std::string owners;
    for (const unsigned owner : sharding.owners(sharding.key(labels.labels()))) {
        owners += (owners.empty() ? "" : " and ") + std::to_string(owner);
    }
    return std::string(sharding.owns(labels.labels()) ? "kept" : "dropped") + ": of " +
           std::to_string(options.members) + " members it belongs to " + owners + ", this is " +
           std::to_string(options.member);
}

std::string fleet_account(const FleetShare& share, std::uint64_t key) {
    if (!share.view()) return "dropped: the members of the fleet are not known yet";
    std::string owners;
    for (const std::string_view owner : share.view()->owners(key, share.replicas())) {
        owners += owners.empty() ? "" : " and ";
        owners += owner;
    }
    return std::string(share.owns(key) ? "kept" : "dropped") + ": of " +
           std::to_string(share.view()->size()) + " members it belongs to " +
           (owners.empty() ? "none" : owners) + ", this is " + share.self();
}

}  // namespace

/// The values a scrape needs besides the labels.
struct TargetBuilder::Scrape {
    milliseconds interval{};
    milliseconds timeout{};
    std::string url;
};

TargetBuilder::TargetBuilder(ScrapeConfig config, Sharding sharding, const RelabelLimits& limits)
    : TargetBuilder(std::make_shared<const ScrapeConfig>(std::move(config)), std::move(sharding),
                    limits) {}
TargetBuilder::TargetBuilder(std::shared_ptr<const ScrapeConfig> config, Sharding sharding,
                             const RelabelLimits& limits)
    : job_(make_job(std::move(config))),
      relabeler_(Relabeler::Rules(job_, &job_->config.relabel_configs),
                 options_with(limits, job_->config)),
      sharding_(std::move(sharding)),
      packer_(std::make_unique<detail::TargetPacker>(job_)) {}
TargetBuilder::TargetBuilder(TargetBuilder&&) noexcept = default;
TargetBuilder& TargetBuilder::operator=(TargetBuilder&&) noexcept = default;
TargetBuilder::~TargetBuilder() = default;

const ScrapeConfig& TargetBuilder::config() const noexcept { return job_->config; }

LabelMap TargetBuilder::discovered(const TargetGroup& group, std::size_t index) const {
    return detail::discovered_labels(*job_, group, index);
}

BuiltTarget TargetBuilder::build(const TargetGroupPtr& group, std::size_t index,
                                 const FleetShare& share) {
    const LabelsOfOneTarget scope;
    MutableLabels& labels = scope.get();
    detail::append_discovered(*job_, *group, index, labels);
    try {
        if (!relabeler_.apply(labels)) return DropReason::relabelling;
    } catch (const RelabelError& e) {
        return TargetError{e.what()};
    }
    Finished finished = finish(labels, nullptr);
    if (auto* reason = std::get_if<DropReason>(&finished)) return *reason;
    if (auto* error = std::get_if<TargetError>(&finished)) return std::move(*error);
    auto& scrape = std::get<Scrape>(finished);
    if (share.is_shared()) {
        const std::uint64_t key = share_key(group->share_key(), labels, scrape.url);
        if (!share.owns(key)) return OthersTarget{key};
    }
    return packer_->pack(labels.labels(), scrape.url, scrape.interval, scrape.timeout, group,
                         index);
}

std::uint64_t TargetBuilder::share_key(const ScrapeTarget& target) const {
    return share_key(target.group().share_key(), target, target.url());
}

/// A member with partial discovery owns exactly its part.
template <class LabelsOfTarget>
std::uint64_t TargetBuilder::share_key(std::uint64_t group_key, const LabelsOfTarget& labels,
                                       std::string_view url) const {
    if (group_key != 0) return group_key;
    std::vector<std::string_view> parts{job_->config.job_name};
    for (const std::string& name : sharding_.options().shard_by_labels) {
        const std::string_view value = labels.get(name);
        if (!value.empty()) parts.insert(parts.end(), {name, value});
    }
    if (parts.size() == 1) parts.push_back(url);
    return k8s_sd::share_key(parts);
}

TargetExplanation TargetBuilder::explain(const TargetGroup& group, std::size_t index,
                                         const FleetShare& share) {
    const LabelsOfOneTarget scope;
    MutableLabels& labels = scope.get();
    detail::append_discovered(*job_, group, index, labels);
    return explain_labels(labels, share, group.share_key());
}

TargetExplanation TargetBuilder::explain(const LabelMap& target, const FleetShare& share) {
    const LabelsOfOneTarget scope;
    MutableLabels& labels = scope.get();
    detail::append_discovered(*job_, target, labels);
    return explain_labels(labels, share, 0);
}

TargetExplanation TargetBuilder::explain_labels(MutableLabels& labels, const FleetShare& share,
                                                std::uint64_t group_key) {
    TargetExplanation explanation;
    explanation.discovered = labels.to_map();
    explanation.rules = relabeler_.explain(labels);
    if (!explanation.rules.empty() && explanation.rules.back().dropped) {
        explanation.steps.emplace_back("dropped: by this rule");
        return explanation;
    }
    if (!explanation.rules.empty() && explanation.rules.back().refused) {
        const RelabelStep& step = explanation.rules.back();
        explanation.steps.push_back(std::string("failed: ") +
                                    RelabelError(step.rule, step.reason).what());
        return explanation;
    }
    const Finished finished = finish(labels, &explanation.steps);
    if (const auto* error = std::get_if<TargetError>(&finished)) {
        explanation.steps.push_back("failed: " + error->message);
    } else if (const auto* scrape = std::get_if<Scrape>(&finished)) {
        if (share.is_shared()) {
            const std::uint64_t key = share_key(group_key, labels, scrape->url);
            std::string scraped =
                std::exchange(explanation.steps.back(), fleet_account(share, key));
            if (!share.owns(key)) return explanation;
            explanation.steps.push_back(std::move(scraped));
        }
        explanation.labels = labels.to_map();
        explanation.url = scrape->url;
    }
    return explanation;
}

/// Performs the steps after relabelling. `account`, if not null, receives a description of them.
TargetBuilder::Finished TargetBuilder::finish(MutableLabels& labels,
                                              std::vector<std::string>* account) {
    const ScrapeConfig& config = job_->config;
    labels.erase_if([](std::string_view name) { return name.starts_with("__meta_"); });
    // Sharding hashes labels in vmagent's order; Prometheus' relabelling leaves them unsorted.
    const bool shared = sharding_.options().members > 1;
    if (shared && !detail::rules_of(config.dialect).sorts_labels_before_relabelling) labels.sort();
    const bool owned = sharding_.owns(labels.labels());
    if (shared && account) account->push_back(sharding_account(sharding_, labels));
    if (!owned) return DropReason::sharding;

    detail::TargetPlace place = detail::target_place(config, labels.labels());
    if (!place.problem.empty()) return TargetError{std::move(place.problem)};
    Scrape scrape{{}, {}, std::move(place.url)};
    Problem problem = read_times(*job_, labels, scrape.interval, scrape.timeout);
    if (problem.empty()) problem = check_histogram_labels(config, labels);
    if (!problem.empty()) return TargetError{std::move(problem)};

    if (labels.get(detail::instance_label).empty()) {
        labels.set(detail::instance_label, labels.copy(place.instance));
        if (account) account->push_back("instance, which is empty, becomes " + place.instance);
    }
    if (const std::string& name = sharding_.options().member_label; !name.empty()) {
        labels.set(name, sharding_.options().member_name);
        if (account) account->push_back(name + " becomes " + sharding_.options().member_name);
    }
    problem = check_values(labels);
    if (!problem.empty()) return TargetError{std::move(problem)};
    labels.sort();
    if (account) {
        account->push_back("scraped: " + scrape.url + " every " + format_duration(scrape.interval) +
                           ", for " + format_duration(scrape.timeout) + " at most");
    }
    return scrape;
}

}  // namespace k8s_sd::inline v0
