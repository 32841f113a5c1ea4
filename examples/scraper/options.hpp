#pragma once

#include "k8s_sd/dialect.hpp"
#include "k8s_sd/role.hpp"
#include "k8s_sd/scrape/sharding.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace scraper {

struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Options {
    bool sim = false;
    std::string config_file;
    bool strict = false;
    k8s_sd::LabelDialect dialect = k8s_sd::LabelDialect::prometheus;
    k8s_sd::ShardingOptions sharding;
    std::chrono::milliseconds check_interval = std::chrono::seconds(5);
    std::chrono::milliseconds report_interval = std::chrono::seconds(5);
    std::size_t scrapes = 0;                            ///< end after so many; 0: go on
    std::optional<std::chrono::milliseconds> duration;  ///< end after this time
    bool explain = false;
    bool help = false;
    bool version = false;
};

/// \throws UsageError naming the option
Options parse_options(const std::vector<std::string>& arguments);

std::string_view help_text() noexcept;

}  // namespace scraper
