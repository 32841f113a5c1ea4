#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::test {

/// A key of a configuration, and values for it in YAML.
struct SettingValues {
    std::string_view key;
    std::vector<std::string_view> usual;
    std::vector<std::string_view> odd;  ///< most are refused
};

/// Makes configuration files of Prometheus. The same seed makes the same ones. Each file has at
/// most one odd value. Excludes:
/// * all cases in which Prometheus 2.42 differs from 3.5, the reproduced version: newer keys, names
///   of labels beyond the legacy scheme, addresses without a port;
/// * discovery of Kubernetes, which Debian's promtool lacks;
/// * values that only this library refuses: limits with a fraction, negative sizes;
/// * values that only Prometheus refuses: negative limits of samples and labels, which mean
///   something to vmagent;
/// * an empty scheme or path: Prometheus takes it as it is, this library takes the default.
class ScrapeConfigGenerator {
 public:
    explicit ScrapeConfigGenerator(std::uint64_t seed) : random_(seed) {}

    std::string file();

 private:
    /// Lines of some of these settings.
    std::string settings(const std::vector<SettingValues>&, const std::string& indent,
                         std::size_t percent);
    std::string job(std::size_t number);

    std::size_t below(std::size_t n) { return random_() % n; }
    bool chance(std::size_t percent) { return below(100) < percent; }
    std::string one_of(const std::vector<std::string_view>& values) {
        return std::string(values[below(values.size())]);
    }

    std::mt19937_64 random_;
    bool odd_ = false;  ///< the file may still get an odd value
};

}  // namespace k8s_sd::test
