#include "k8s_sd/detail/scrape/target_shape.hpp"

#include <cstring>
#include <utility>

namespace k8s_sd::inline v0::detail {

TargetShape::TargetShape(std::shared_ptr<const PreparedJob> job, std::size_t hash,
                         std::span<const Entry> entries, std::chrono::milliseconds interval,
                         std::chrono::milliseconds timeout)
    : job_(std::move(job)),
      hash_(hash),
      interval_(interval),
      timeout_(timeout),
      entries_(entries.begin(), entries.end()) {
    std::size_t size = 0;
    for (const Entry& entry : entries_) size += entry.name.size() + entry.value.size();
    text_ = std::make_unique<char[]>(size);
    char* next = text_.get();
    const auto move_in = [&](std::string_view& view) {
        if (!view.empty()) std::memcpy(next, view.data(), view.size());
        view = {next, view.size()};
        next += view.size();
    };
    for (Entry& entry : entries_) {
        move_in(entry.name);
        if (!entry.own()) move_in(entry.value);
    }
}

}  // namespace k8s_sd::inline v0::detail
