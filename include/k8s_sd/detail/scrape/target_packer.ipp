#include "k8s_sd/detail/base/access.hpp"
#include "k8s_sd/detail/labels/label_block.hpp"
#include "k8s_sd/detail/relabel/hashes.hpp"
#include "k8s_sd/detail/scrape/target_packer.hpp"

#include <boost/container/small_vector.hpp>
#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

namespace {

/// Below this size, no search for unused shapes.
constexpr std::size_t few_entries = 1024;

}  // namespace

/// The parts of one target: what its shape has, and its own values.
class TargetPacker::Parts {
 public:
    explicit Parts(const PreparedJob& job) : job_(job) { packed_.reserve(usual_value_bytes); }
    Parts(const Parts&) = delete;
    Parts& operator=(const Parts&) = delete;

    const TemplateEntry& add(const MutableLabels::Label& label) {
        TemplateEntry& entry = entries_.emplace_back(TemplateEntry{label.name, {}});
        if (is_of_job(label)) {
            entry.value = label.value;
        } else if (label.name == instance_label && address_ != 0 && label.value == address_text_) {
            entry.repeats = address_;
        } else {
            pack_value(packed_, label.value);
            ++own_values_;
            if (label.name == address_label_name) {
                address_ = own_values_;
                address_text_ = label.value;
            }
        }
        return entry;
    }
    std::span<const TemplateEntry> entries() const noexcept {
        return {entries_.data(), entries_.size()};
    }
    const std::string& packed() const noexcept { return packed_; }

 private:
    static constexpr std::size_t usual_entries = 24;
    static constexpr std::size_t usual_value_bytes = 512;

    /// Times are stored in the shape whoever has set them, because there are few different ones.
    bool is_of_job(const MutableLabels::Label& label) const {
        if (label.name == interval_label || label.name == timeout_label) return true;
        return std::any_of(job_.defaults.begin(), job_.defaults.end(), [&](const auto& own) {
            return own.first == label.name && own.second == label.value;
        });
    }

    const PreparedJob& job_;
    boost::container::small_vector<TemplateEntry, usual_entries> entries_;
    std::string packed_;
    std::uint32_t own_values_ = 0;
    std::uint32_t address_ = 0;  // index of the address among them
    std::string_view address_text_;
};

ScrapeTargetPtr TargetPacker::pack(std::span<const MutableLabels::Label> labels,
                                   std::string_view url, std::chrono::milliseconds interval,
                                   std::chrono::milliseconds timeout, const TargetGroupPtr& group,
                                   std::size_t index) {
    Parts parts(*job_);
    std::uint64_t hash = xxh64(url);
    std::uint64_t shape_hash = 0;
    for (const MutableLabels::Label& label : labels) {
        const std::uint64_t name_hash = xxh64(label.name);
        const std::uint64_t value_hash = xxh64(label.value);
        hash = (hash * 31 + name_hash) * 31 + value_hash;
        const TemplateEntry& entry = parts.add(label);
        shape_hash = shape_hash * 31 + name_hash;
        if (entry.shared()) shape_hash = shape_hash * 31 + value_hash;
    }
    TargetShapePtr shape = shape_of({shape_hash, parts.entries(), interval, timeout});
    const std::string& packed = parts.packed();
    void* memory = ::operator new(sizeof(ScrapeTarget) + packed.size());
    const auto* target =
        Access::construct<ScrapeTarget>(memory, std::move(shape), hash, group, index);
    std::memcpy(static_cast<char*>(memory) + sizeof(ScrapeTarget), packed.data(), packed.size());
    return target;
}

ScrapeTargetPtr TargetPacker::repack(const ScrapeTarget& target, const TargetGroupPtr& group,
                                     std::size_t index) {
    const char* const values = Access::values(target);
    const TargetShapePtr& shape = Access::shape(target);
    const char* end = values;
    for (const TemplateEntry& entry : shape->entries()) {
        if (entry.own()) unpack_value(end);
    }
    const auto size = static_cast<std::size_t>(end - values);
    void* memory = ::operator new(sizeof(ScrapeTarget) + size);
    const auto* copy = Access::construct<ScrapeTarget>(memory, shape, target.hash(), group, index);
    std::memcpy(static_cast<char*>(memory) + sizeof(ScrapeTarget), values, size);
    return copy;
}

bool TargetPacker::Equal::operator()(const Key& key, const TargetShapePtr& shape) const noexcept {
    const auto same = [](const TemplateEntry& a, const TemplateEntry& b) {
        return a.name == b.name && a.value == b.value && a.shared() == b.shared() &&
               a.repeats == b.repeats;
    };
    return key.hash == shape->hash() && key.interval == shape->interval() &&
           key.timeout == shape->timeout() &&
           std::equal(key.entries.begin(), key.entries.end(), shape->entries().begin(),
                      shape->entries().end(), same);
}

TargetShapePtr TargetPacker::shape_of(const Key& key) {
    if (const TargetShapePtr* const known = shapes_.find(key)) return *known;
    forget_unused();
    const TargetShapePtr made(
        new TargetShape(key.hash, key.entries, job_, key.interval, key.timeout));
    shapes_.insert(TargetShapePtr(made));
    shape_entries_ += key.entries.size();
    return made;
}

void TargetPacker::forget_unused() {
    if (shape_entries_ < enough_entries_) return;
    shapes_.erase_if([&](const auto& shape) {
        const bool unused = shape->use_count() == 1;
        if (unused) shape_entries_ -= shape->entries().size();
        return unused;
    });
    // Counted in entries, because shapes may be huge.
    enough_entries_ = std::max(few_entries, 2 * shape_entries_);
}

}  // namespace k8s_sd::inline v0::detail
