#pragma once

#include <algorithm>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace k8s_sd::monitoring {

/// Writes scrapes of programs as a file: after "@ SECONDS" for each time, the samples that differ
/// from the previous scrape, each after the name of its instance. A series that has ended has the
/// value "stale", as Prometheus stores it.
class Scrapes {
 public:
    /// \param metrics  the names of the metrics to write; others are left out
    Scrapes(std::ostream& out, std::set<std::string> metrics)
        : out_(out), metrics_(std::move(metrics)) {}

    void begin(long seconds) { out_ << "@ " << seconds << '\n'; }
    /// \param text  in Prometheus' format; empty: the scrape failed
    void add(const std::string& instance, const std::string& text) {
        std::string& before = known_[instance];
        if (has_same_series(before, text)) {
            write_changed_values(instance, before, text);
        } else {
            write_changed_series(instance, samples_of(before), samples_of(text));
        }
        before = text;
    }

 private:
    using Samples = std::map<std::string, std::string>;  // values by series

    /// Removes the first line from a text.
    static std::string_view take_line(std::string_view& text) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        return line;
    }
    static std::string_view series_of(std::string_view line) {
        return line.substr(0, line.rfind(' '));
    }
    /// Nearly all scrapes have the lines of the previous one, with other values.
    static bool has_same_series(std::string_view before, std::string_view now) {
        while (!before.empty() && !now.empty()) {
            const std::string_view old = take_line(before);
            const std::string_view line = take_line(now);
            if (line != old && series_of(line) != series_of(old)) return false;
        }
        return before.empty() && now.empty();
    }
    bool is_wanted(std::string_view line) const {
        return !line.starts_with('#') &&
               metrics_.contains(std::string(line.substr(0, line.find_first_of("{ "))));
    }
    void write_changed_values(const std::string& instance, std::string_view before,
                              std::string_view now) {
        while (!now.empty()) {
            const std::string_view old = take_line(before);
            const std::string_view line = take_line(now);
            if (line == old || !is_wanted(line)) continue;
            const std::string_view series = series_of(line);
            write(instance, series, line.substr(series.size() + 1));
        }
    }
    void write_changed_series(const std::string& instance, const Samples& before,
                              const Samples& now) {
        for (const auto& [series, value] : now) {
            const auto old = before.find(series);
            if (old == before.end() || old->second != value) write(instance, series, value);
        }
        for (const auto& [series, value] : before) {
            if (!now.contains(series)) write(instance, series, "stale");
        }
    }
    Samples samples_of(std::string_view text) const {
        Samples samples;
        while (!text.empty()) {
            const std::string_view line = take_line(text);
            if (!is_wanted(line)) continue;
            const std::string_view series = series_of(line);
            samples.emplace(series, line.substr(series.size() + 1));
        }
        return samples;
    }
    void write(std::string_view instance, std::string_view series, std::string_view value) {
        out_ << instance << ' ' << series << ' ' << value << '\n';
    }

    std::ostream& out_;
    const std::set<std::string> metrics_;
    std::map<std::string, std::string> known_;  // the last text of each instance
};

}  // namespace k8s_sd::monitoring
