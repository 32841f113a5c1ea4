// Untrusted target lists: parses them as the response of a URL or as a file, and makes groups.
//
//   build/fuzz/tests/fuzz/k8s_sd_fuzz_target_lists -max_total_time=60 CORPUS

#include "k8s_sd/detail/discovery/sources/target_list.hpp"
#include "k8s_sd/error.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace {

using namespace k8s_sd;

constexpr detail::TargetListLimits limits{1000, 100'000};

detail::TargetLists parse(std::string_view text, unsigned how) {
    const auto& rules = detail::rules_of((how & 1U) != 0 ? LabelDialect::victoriametrics
                                                         : LabelDialect::prometheus);
    if ((how & 2U) != 0) return detail::parse_http_list(text, rules, limits);
    return detail::parse_file_list(text, (how & 4U) != 0 ? "t.json" : "t.yml", rules, limits);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    try {
        detail::TargetLists lists =
            parse({reinterpret_cast<const char*>(data) + 1, size - 1}, data[0]);
        TargetGroupMaker maker;
        (void)detail::make_groups(std::move(lists), {"place", "__meta_url", "place"}, maker);
    } catch (const ConfigError&) {
        // An error is the only acceptable failure.
    }
    return 0;
}
