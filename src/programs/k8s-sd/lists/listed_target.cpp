#include "lists/listed_target.hpp"

#include "cli/json_text.hpp"
#include "k8s_sd/detail/base/dialect_rules.hpp"
#include "k8s_sd/fleet/fleet_view.hpp"
#include "lists/consistent_hashing.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <span>
#include <utility>
#include <variant>

namespace k8s_sd_program {

namespace {

using k8s_sd::ScrapeConfig;
using k8s_sd::ScrapeTarget;
using k8s_sd::TargetGroup;
using Label = std::pair<std::string_view, std::string_view>;

constexpr std::string_view address_label = "__address__";
constexpr std::string_view unix_socket_label = "__unix_socket__";
/// A label of the Prometheus operator: the target is on every shard.
constexpr std::string_view on_all_shards_label = "__tmp_disable_sharding";

const k8s_sd::detail::DialectRules& rules_for(const ScrapeConfig& config) {
    return k8s_sd::detail::rules_of(config.dialect);
}

/// The labels of one target of a group, sorted by name, also empty ones; its own override those of
/// the group.
std::vector<Label> all_labels_of(const TargetGroup& group, std::size_t index) {
    std::vector<Label> labels;
    for (const Label label : group[index]) labels.push_back(label);
    const std::size_t own = labels.size();
    for (const Label label : group.labels()) labels.push_back(label);
    const auto by_name = [](const Label& a, const Label& b) { return a.first < b.first; };
    const auto middle = labels.begin() + static_cast<std::ptrdiff_t>(own);
    std::sort(labels.begin(), middle, by_name);
    std::sort(middle, labels.end(), by_name);
    std::inplace_merge(labels.begin(), middle, labels.end(), by_name);
    const auto same_name = [](const Label& a, const Label& b) { return a.first == b.first; };
    labels.erase(std::unique(labels.begin(), labels.end(), same_name), labels.end());
    return labels;
}

/// The same without empty labels.
std::vector<Label> labels_of(const TargetGroup& group, std::size_t index) {
    std::vector<Label> labels = all_labels_of(group, index);
    std::erase_if(labels, [](const Label& label) { return label.second.empty(); });
    return labels;
}

/// The same for readers with the job, to which an empty label may hide a default of the job.
std::vector<Label> labels_for_readers(const TargetGroup& group, std::size_t index,
                                      const ScrapeConfig& config) {
    if (!rules_for(config).keeps_empty_labels) return labels_of(group, index);
    std::vector<Label> labels = all_labels_of(group, index);
    std::erase_if(labels, [](const Label& label) {
        return label.second.empty() && label.first.starts_with(meta_prefix);
    });
    return labels;
}

std::string_view value_of(std::span<const Label> labels, std::string_view name) {
    const auto it = std::lower_bound(labels.begin(), labels.end(), name,
                                     [](const Label& a, auto wanted) { return a.first < wanted; });
    return it != labels.end() && it->first == name ? it->second : std::string_view();
}

/// The node of a target. \param value  std::string_view(std::string_view name), of its labels
template <class Value>
std::string_view node_with(Value&& value) {
    for (const std::string_view name :
         {"__meta_kubernetes_pod_node_name", "__meta_kubernetes_node_name",
          "__meta_kubernetes_endpointslice_endpoint_node_name",
          "__meta_kubernetes_endpoint_node_name"}) {
        if (const auto node = value(name); !node.empty()) return node;
    }
    for (const std::string prefix : {"__meta_kubernetes_endpointslice_address_target_",
                                     "__meta_kubernetes_endpoint_address_target_"}) {
        if (value(prefix + "kind") == "Node") return value(prefix + "name");
    }
    return {};
}

/// The same for a group, without the costly sorting of all labels.
std::string_view node_of(const TargetGroup& group, std::size_t index) {
    const k8s_sd::Labels own = group[index];
    const k8s_sd::Labels common = group.labels();
    return node_with([&](std::string_view name) {
        const auto value = own.get(name);
        return value ? *value : common.get(name).value_or(std::string_view());
    });
}

}  // namespace

std::string_view node_of(std::span<const Label> labels) {
    return node_with([&](std::string_view name) { return value_of(labels, name); });
}

namespace {

/// Makes the text of a ListedTarget; the labels must come in the order of their names.
class TextWriter {
 public:
    /// Adds the label if lists of the job include it.
    void add(const ScrapeConfig& config, std::string_view name, std::string_view value) {
        if (is_listed_name(config, name)) return add(name, value);
        ++left_out_;
    }
    void add(std::string_view name, std::string_view value) {
        text_ += text_.size() == 1 ? "" : ",";
        cli::append_json(text_, name);
        text_ += ':';
        cli::append_json(text_, value);
    }
    ListedTarget finish(std::string_view target) && {
        text_ += '}';
        const std::size_t labels_size = text_.size();
        cli::append_json(text_, target);
        text_.shrink_to_fit();
        ListedTarget listed{std::move(text_), labels_size};
        listed.left_out = left_out_;
        return listed;
    }

 private:
    std::string text_ = "{";
    std::size_t left_out_ = 0;
};

/// A label with a setting for histograms, since Prometheus 3.13.
struct HistogramLabel {
    std::string_view name;
    bool (ScrapeTarget::*of_target)() const noexcept;
    bool ScrapeConfig::*of_job;
};

constexpr HistogramLabel histogram_labels[] = {
    {"__convert_classic_histograms_to_nhcb__", &ScrapeTarget::convert_classic_histograms_to_nhcb,
     &ScrapeConfig::convert_classic_histograms_to_nhcb},
    {"__always_scrape_classic_histograms__", &ScrapeTarget::always_scrape_classic_histograms,
     &ScrapeConfig::always_scrape_classic_histograms},
    {"__scrape_native_histograms__", &ScrapeTarget::scrape_native_histograms,
     &ScrapeConfig::scrape_native_histograms},
};

/// Null for any other name.
const HistogramLabel* histogram_label(std::string_view name) {
    const auto* found =
        std::find_if(std::begin(histogram_labels), std::end(histogram_labels),
                     [&](const HistogramLabel& label) { return label.name == name; });
    return found == std::end(histogram_labels) ? nullptr : found;
}

/// Whether readers set the same `instance` if the list has none. vmagent adds a port to an address
/// without one, and leaves out scheme and path.
bool is_default_instance(const ScrapeTarget& target, const ScrapeConfig& config) {
    const std::string_view address = target.get(address_label);
    if (target.get("instance") != address) return false;
    return !rules_for(config).joins_urls_as_they_are ||
           (address.find(':') != address.npos && address.find('/') == address.npos);
}

/// Whether the target's setting equals the job's: the reader has it in its own job.
bool is_default(const ScrapeTarget& target, const ScrapeConfig& config, std::string_view name) {
    if (name == "instance") return is_default_instance(target, config);
    if (name == "__scrape_interval__") return target.scrape_interval() == config.scrape_interval;
    if (name == "__scrape_timeout__") {
        constexpr std::chrono::milliseconds usual = std::chrono::seconds(10);
        return target.scrape_timeout() ==
               config.scrape_timeout.value_or(std::min(usual, config.scrape_interval));
    }
    if (name == unix_socket_label) return target.unix_socket().empty();
    const HistogramLabel* histograms = histogram_label(name);
    return histograms && (target.*histograms->of_target)() == config.*histograms->of_job;
}

/// Hidden labels with an effect on scraping; the last ones are vmagent's.
bool steers_scrape(std::string_view name) {
    constexpr std::array names = {"__metrics_path__",   "__scheme__",       "__scrape_interval__",
                                  "__scrape_timeout__", "__sample_limit__", "__series_limit__",
                                  "__stream_parse__",   "__tenant_id__"};
    return name.starts_with("__param_") || name == unix_socket_label || histogram_label(name) ||
           std::find(names.begin(), names.end(), name) != names.end();
}

bool shows(ListForm form, const ScrapeTarget& target, const ScrapeConfig& config,
           std::string_view name) {
    if (form == ListForm::urls) return !name.starts_with("__");
    if (name.starts_with("__") && !steers_scrape(name)) return false;
    return !is_default(target, config, name);
}

}  // namespace

bool is_listed_name(const ScrapeConfig& config, std::string_view name) {
    if (config.metric_name_validation_scheme != k8s_sd::NameValidation::legacy) return true;
    const auto is_letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    const auto is_allowed = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); };
    return !name.empty() && is_letter(name[0]) && std::all_of(name.begin(), name.end(), is_allowed);
}

std::vector<Label> discovered_labels(const TargetGroup& group, std::size_t index) {
    return labels_of(group, index);
}

std::optional<std::uint64_t> share_key_of(const ScrapeTarget& target, const std::string& job) {
    if (!target.get(on_all_shards_label).empty()) return std::nullopt;
    return k8s_sd::share_key(job, target.url());
}

namespace {

/// \param meta  see discovered_targets()
ListedTarget discovered_target(std::span<const Label> labels, const ScrapeConfig& config,
                               const MetaNames& meta) {
    TextWriter writer;
    for (const auto& [name, value] : labels) {
        const bool unwanted = !meta.empty() && name.starts_with(meta_prefix) && !meta.match(name);
        if (name != address_label && !unwanted) writer.add(config, name, value);
    }
    return std::move(writer).finish(value_of(labels, address_label));
}

}  // namespace

std::vector<ListedTarget> discovered_targets(const k8s_sd::TargetGroupPtr& group,
                                             k8s_sd::TargetBuilder& builder,
                                             const MetaNames& meta) {
    std::vector<ListedTarget> targets;
    targets.reserve(group->size());
    const ScrapeConfig& config = builder.config();
    const std::string& job = config.job_name;
    for (std::size_t i = 0; i < group->size(); ++i) {
        const std::vector<Label> labels = labels_for_readers(*group, i, config);
        ListedTarget target = discovered_target(labels, config, meta);
        const k8s_sd::BuiltTarget built = builder.build(group, i);
        if (const auto* scraped = std::get_if<k8s_sd::ScrapeTargetPtr>(&built)) {
            target.share_key = share_key_of(**scraped, job);
        } else if (meta.empty()) {
            // Assign dropped targets to a shard, too: the reader may have other rules.
            target.share_key = k8s_sd::share_key(job, target.text);
        } else {
            // The shard must not depend on the labels selected by the reader.
            target.share_key = k8s_sd::share_key(job, discovered_target(labels, config, {}).text);
        }
        target.node = node_of(labels);
        targets.push_back(std::move(target));
    }
    return targets;
}

ListedTarget collector_target(const TargetGroup& group, std::size_t index) {
    const std::vector<Label> labels = labels_of(group, index);
    TextWriter writer;
    for (const auto& [name, value] : labels) writer.add(name, value);
    const std::string_view address = value_of(labels, address_label);
    ListedTarget target = std::move(writer).finish(address);
    target.share_key = ConsistentHashing::key_of(address);
    target.node = node_of(labels);
    return target;
}

namespace {

/// The labels of the job that the target does not have: readers would add them.
std::vector<std::string> missing_defaults(const ScrapeTarget& target, const ScrapeConfig& config) {
    std::vector<std::string> missing;
    for (const std::string_view name : {"__metrics_path__", "__scheme__", "job"}) {
        if (target.get(name).empty()) missing.emplace_back(name);
    }
    for (const auto& [param, values] : config.params) {
        const std::string name = "__param_" + param;
        if (target.get(name).empty()) missing.push_back(name);
    }
    return missing;
}

/// The labels in the list, sorted by name.
/// \param hidden  names of labels to list with an empty value
std::vector<Label> shown_labels(const ScrapeTarget& target, const ScrapeConfig& config,
                                const ListContent& content,
                                const std::vector<std::string>& hidden) {
    std::vector<Label> labels;
    for (const auto [name, value] : target.labels()) {
        if (shows(content.form, target, config, name)) labels.emplace_back(name, value);
    }
    for (const std::string& name : hidden) labels.emplace_back(name, std::string_view());
    if (!content.meta.empty()) {
        for (const Label& label : labels_of(target.group(), target.index())) {
            if (content.meta.match(label.first)) labels.push_back(label);
        }
    }
    std::sort(labels.begin(), labels.end());
    return labels;
}

ListedTarget scraped_target(const ScrapeTarget& target, const ScrapeConfig& config,
                            const ListContent& content) {
    const bool urls = content.form == ListForm::urls;
    std::vector<std::string> hidden;
    if (!urls && rules_for(config).keeps_empty_labels) hidden = missing_defaults(target, config);
    TextWriter writer;
    for (const auto& [name, value] : shown_labels(target, config, content, hidden)) {
        writer.add(config, name, value);
    }
    ListedTarget listed =
        std::move(writer).finish(urls ? target.url() : std::string(target.get(address_label)));
    listed.share_key = share_key_of(target, config.job_name);
    listed.node = node_of(target.group(), target.index());
    return listed;
}

}  // namespace

std::vector<ListedTarget> scraped_targets(const k8s_sd::TargetGroupPtr& group,
                                          k8s_sd::TargetBuilder& builder,
                                          const ScrapeConfig& config, const ListContent& content) {
    std::vector<ListedTarget> targets;
    for (std::size_t i = 0; i < group->size(); ++i) {
        const k8s_sd::BuiltTarget built = builder.build(group, i);
        const auto* target = std::get_if<k8s_sd::ScrapeTargetPtr>(&built);
        if (target) targets.push_back(scraped_target(**target, config, content));
    }
    return targets;
}

}  // namespace k8s_sd_program
