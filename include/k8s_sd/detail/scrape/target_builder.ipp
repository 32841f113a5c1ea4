#include "k8s_sd/detail/base/dialect_rules.hpp"
#include "k8s_sd/detail/base/host_port.hpp"
#include "k8s_sd/detail/base/utf8.hpp"
#include "k8s_sd/detail/scrape/prepared_job.hpp"
#include "k8s_sd/detail/scrape/target_packer.hpp"
#include "k8s_sd/detail/scrape/target_url.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/scrape/duration_text.hpp"
#include "k8s_sd/scrape/target_builder.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace k8s_sd::inline v0 {

namespace {

using Label = MutableLabels::Label;
using std::chrono::milliseconds;

/// What is wrong with a target; empty: nothing.
using Problem = std::string;

std::shared_ptr<const detail::PreparedJob> make_job(ScrapeConfig config) {
    validate(config);
    return std::make_shared<const detail::PreparedJob>(std::move(config));
}

Problem check_address(std::string_view address) {
    if (address.empty()) return "there is no address: __address__ is empty";
    if (address.find('/') == std::string_view::npos) return {};
    return "__address__ must be host:port, without scheme and path";
}

Problem read_duration_label(const MutableLabels& labels, std::string_view name,
                            LabelDialect dialect, milliseconds& value) {
    try {
        value = parse_duration(labels.get(name), dialect);
    } catch (const ConfigError& e) {
        return std::string(name) + " " + e.problem();
    }
    return value.count() == 0 ? std::string(name) + " must not be 0" : Problem();
}

Problem check_histogram_labels(const MutableLabels& labels) {
    // Go's spellings.
    constexpr std::array<std::string_view, 13> allowed{
        "", "1", "t", "T", "true", "TRUE", "True", "0", "f", "F", "false", "FALSE", "False"};
    for (const auto& [name, option] : detail::histogram_labels) {
        const bool good =
            std::find(allowed.begin(), allowed.end(), labels.get(name)) != allowed.end();
        if (!good) return std::string(name) + " must be true or false";
    }
    return {};
}

/// Names come from rules whose results were checked, values from anywhere.
Problem check_values(const MutableLabels& labels) {
    for (const Label& label : labels.labels()) {
        if (detail::is_utf8(label.value)) continue;
        return "the value of " + std::string(label.name) + " is not UTF-8";
    }
    return {};
}

void add_default_port(MutableLabels& labels) {
    const std::string_view address = labels.get(detail::address_label_name);
    const std::size_t colon = address.rfind(':');
    const bool bare_ipv6 = address.find(':') != colon && !address.starts_with('[');
    const bool has_port = colon != std::string_view::npos && !bare_ipv6 && !address.ends_with(']');
    if (has_port) return;
    const bool https = labels.get(detail::scheme_label) == "https";
    // An address that has brackets already keeps them as they are.
    const std::string host = bare_ipv6 ? detail::in_brackets(address) : std::string(address);
    labels.set(detail::address_label_name, labels.copy(host + (https ? ":443" : ":80")));
}

}  // namespace

TargetBuilder::TargetBuilder(ScrapeConfig config, Sharding sharding)
    : job_(make_job(std::move(config))),
      relabeler_(job_->config.relabel_configs, relabel_options(job_->config)),
      sharding_(std::move(sharding)),
      packer_(std::make_unique<detail::TargetPacker>(job_)) {}
TargetBuilder::TargetBuilder(TargetBuilder&&) noexcept = default;
TargetBuilder& TargetBuilder::operator=(TargetBuilder&&) noexcept = default;
TargetBuilder::~TargetBuilder() = default;

const ScrapeConfig& TargetBuilder::config() const noexcept { return job_->config; }

LabelMap TargetBuilder::discovered(const TargetGroup& group, std::size_t index) const {
    return detail::discovered_labels(*job_, group, index);
}

std::vector<RelabelStep> TargetBuilder::explain(const TargetGroup& group, std::size_t index) {
    labels_.clear();
    detail::append_discovered(*job_, group, index, labels_);
    labels_.sort();
    return relabeler_.explain(labels_);
}

BuiltTarget TargetBuilder::build(const TargetGroupPtr& group, std::size_t index) {
    labels_.clear();
    detail::append_discovered(*job_, *group, index, labels_);
    // vmagent's sharding depends on the order.
    if (sharding_.options().members > 1) labels_.sort();
    if (!relabeler_.apply(labels_)) return DropReason::relabelling;
    return build_kept(group, index);
}

BuiltTarget TargetBuilder::build_kept(const TargetGroupPtr& group, std::size_t index) {
    const LabelDialect dialect = job_->config.dialect;
    const detail::DialectRules& rules = detail::rules_of(dialect);
    milliseconds interval{};
    milliseconds timeout{};
    Problem problem = check_address(labels_.get(detail::address_label_name));
    if (problem.empty())
        problem = read_duration_label(labels_, detail::interval_label, dialect, interval);
    if (problem.empty())
        problem = read_duration_label(labels_, detail::timeout_label, dialect, timeout);
    if (problem.empty() && rules.refuses_timeout_above_interval && timeout > interval) {
        problem = "__scrape_timeout__ is longer than __scrape_interval__";
    }
    timeout = std::min(timeout, interval);
    if (problem.empty()) problem = check_histogram_labels(labels_);
    if (!problem.empty()) return TargetError{problem};
    labels_.erase_if([](std::string_view name) { return name.starts_with("__meta_"); });
    if (!sharding_.owns(labels_.labels())) return DropReason::sharding;
    if (rules.adds_default_port) add_default_port(labels_);
    if (labels_.get(detail::instance_label).empty()) {
        labels_.set(detail::instance_label, labels_.get(detail::address_label_name));
    }
    if (const std::string& name = sharding_.options().member_label; !name.empty()) {
        labels_.set(name, sharding_.options().member_name);
    }
    problem = check_values(labels_);
    if (!problem.empty()) return TargetError{problem};
    labels_.sort();

    const std::string url = detail::target_url(job_->config, labels_.labels());
    return packer_->pack(labels_.labels(), url, interval, timeout, group, index);
}

}  // namespace k8s_sd::inline v0
