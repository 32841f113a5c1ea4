#pragma once

#include <map>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
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
        std::map<std::string, std::string> samples = samples_of(text);
        std::map<std::string, std::string>& known = known_[instance];
        for (const auto& [series, value] : samples) {
            const auto before = known.find(series);
            if (before == known.end() || before->second != value) write(instance, series, value);
        }
        for (const auto& [series, value] : known) {
            if (!samples.contains(series)) write(instance, series, "stale");
        }
        known.swap(samples);
    }

 private:
    std::map<std::string, std::string> samples_of(const std::string& text) const {
        std::map<std::string, std::string> samples;
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) {
            if (line.starts_with('#')) continue;
            if (!metrics_.contains(line.substr(0, line.find_first_of("{ ")))) continue;
            const auto space = line.rfind(' ');
            samples.emplace(line.substr(0, space), line.substr(space + 1));
        }
        return samples;
    }
    void write(const std::string& instance, const std::string& series, const std::string& value) {
        out_ << instance << ' ' << series << ' ' << value << '\n';
    }

    std::ostream& out_;
    const std::set<std::string> metrics_;
    std::map<std::string, std::map<std::string, std::string>> known_;  // values by series
};

}  // namespace k8s_sd::monitoring
