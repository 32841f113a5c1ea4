#include "k8s_sd/metrics.hpp"
#include "k8s_sd/status.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace k8s_sd::inline v0 {

namespace {

/// Appends a label value as it stands between quotes.
void append_escaped(std::string& text, std::string_view value) {
    for (const char c : value) {
        if (c == '\\' || c == '"') text += '\\';
        c == '\n' ? text += "\\n" : text += c;
    }
}

/// Writes samples, and the HELP and TYPE lines before the first sample of a metric.
class TextWriter {
 public:
    /// \param labels  of the host; a label of the sample replaces one of its name, since Prometheus
    ///                refuses a text with duplicates
    explicit TextWriter(const MetricLabels& labels) : common_(labels) {}

    using Label = std::pair<std::string_view, std::string_view>;
    /// \param own  labels besides the common ones; a label without a name is skipped
    template <class Number>
    void sample(const MetricDescription& metric, std::initializer_list<Label> own, Number value) {
        if (std::exchange(last_, metric.name) != metric.name) describe(metric);
        line(metric.name, "", own, value);
    }
    void histogram(const MetricDescription& metric, const LatencyHistogram& histogram) {
        describe(metric);
        const LatencyHistogram::Counts counts = histogram.counts();
        std::uint64_t so_far = 0;
        for (std::size_t i = 0; i < counts.size(); ++i) {
            const bool bounded = i < LatencyHistogram::bounds.size();
            so_far += counts[i];
            line(metric.name, "_bucket",
                 {{"le", bounded ? number(in_seconds(LatencyHistogram::bounds[i])) : "+Inf"}},
                 so_far);
        }
        line(metric.name, "_sum", {}, in_seconds(histogram.sum()));
        line(metric.name, "_count", {}, so_far);
    }
    std::string text() && { return std::move(text_); }

 private:
    static double in_seconds(Duration duration) {
        return std::chrono::duration<double>(duration).count();
    }
    template <class Number>
    static std::string number(Number value) {
        std::array<char, 40> digits{};
        return {digits.data(),
                std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr};
    }
    /// Writes whole numbers without an exponent, up to 2^53.
    static std::string number(double value) {
        constexpr double exact = 9007199254740992;
        if (std::abs(value) <= exact && value == std::trunc(value)) {
            return number(static_cast<std::int64_t>(value));
        }
        return number<double>(value);
    }
    template <class Number>
    void line(std::string_view name, std::string_view suffix, std::initializer_list<Label> own,
              Number value) {
        (text_ += name) += suffix;
        char separator = '{';
        const auto add = [&](std::string_view label, std::string_view text) {
            ((text_ += std::exchange(separator, ',')) += label) += "=\"";
            append_escaped(text_, text);
            text_ += '"';
        };
        for (const auto& common : common_) {
            const bool is_replaced = std::any_of(own.begin(), own.end(), [&](const Label& label) {
                return label.first == common.first;
            });
            if (!is_replaced) add(common.first, common.second);
        }
        for (const auto& [label, text] : own) {
            if (!label.empty()) add(label, text);
        }
        if (separator == ',') text_ += '}';
        ((text_ += ' ') += number(value)) += '\n';
    }
    void describe(const MetricDescription& metric) {
        (((text_ += "# HELP ") += metric.name) += ' ') += metric.help;
        (((text_ += "\n# TYPE ") += metric.name) += ' ') += to_string(metric.type);
        text_ += '\n';
    }

    const MetricLabels& common_;
    std::string_view last_;
    std::string text_;
};

}  // namespace

std::string to_prometheus_text(const Metrics& metrics, const MetricLabels& labels) {
    TextWriter writer(labels);
    metrics.visit_described(
        [&](const MetricDescription& metric, std::string_view resource, double value) {
            writer.sample(metric, {{resource.empty() ? "" : "resource", resource}}, value);
        });
    writer.histogram(delivery_latency_metric, metrics.delivery_latency);
    return std::move(writer).text();
}

std::string to_prometheus_text(const std::vector<WatchStatus>& watches, TimePoint now,
                               const MetricLabels& labels) {
    // Views of a shared watch report the same status; emit it once.
    std::vector<WatchStatus> single;
    std::set<std::tuple<std::string_view, std::string_view, std::string_view, std::string_view>>
        seen;
    std::copy_if(watches.begin(), watches.end(), std::back_inserter(single),
                 [&](const WatchStatus& w) {
                     return seen.emplace(w.cluster, w.server, to_string(w.kind), w.ns).second;
                 });
    TextWriter writer(labels);
    visit_watch_metrics(single, now,
                        [&](const MetricDescription& metric, const WatchStatus& watch,
                            std::string_view label, std::string_view text, double value) {
                            writer.sample(metric,
                                          {{watch.cluster.empty() ? "" : "cluster", watch.cluster},
                                           {watch.server.empty() ? "" : "server", watch.server},
                                           {"resource", to_string(watch.kind)},
                                           {"namespace", watch.ns},
                                           {label, text}},
                                          value);
                        });
    return std::move(writer).text();
}

std::string to_prometheus_text(const std::vector<ServerHealth>& servers,
                               const MetricLabels& labels) {
    TextWriter writer(labels);
    for (const ServerMetric& metric : server_metrics) {
        for (const ServerHealth& server : servers) {
            writer.sample(metric.description,
                          {{server.cluster.empty() ? "" : "cluster", server.cluster},
                           {server.server.empty() ? "" : "server", server.server}},
                          metric.value(server));
        }
    }
    return std::move(writer).text();
}

}  // namespace k8s_sd::inline v0
