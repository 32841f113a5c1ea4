#include "lists/sent_lists.hpp"

#include <functional>
#include <utility>

namespace k8s_sd_program {

namespace {

std::size_t target_hash(std::string_view target) { return std::hash<std::string_view>()(target); }

}  // namespace

std::string SentLists::last(std::uint64_t connection, std::string_view target) const {
    const std::lock_guard lock(mutex_);
    const auto it = sent_.find(connection);
    return it != sent_.end() && it->second.target == target_hash(target) ? it->second.tag : "";
}

void SentLists::sent(std::uint64_t connection, std::string_view target, std::string tag) {
    const std::lock_guard lock(mutex_);
    sent_[connection] = {target_hash(target), std::move(tag)};
    // Connections have increasing numbers and are short-lived.
    if (sent_.size() > max_lists_) sent_.erase(sent_.begin());
}

}  // namespace k8s_sd_program
