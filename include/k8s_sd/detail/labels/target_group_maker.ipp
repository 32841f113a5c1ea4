#include "k8s_sd/detail/base/access.hpp"
#include "k8s_sd/detail/labels/label_factory.hpp"
#include "k8s_sd/detail/text/utf8.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/target_group.hpp"

#include <cstdint>
#include <string>
#include <utility>

namespace k8s_sd::inline v0 {

namespace {

constexpr std::size_t max_own_targets = 1'000'000;
constexpr std::size_t max_source_bytes = std::size_t{64} << 10;
constexpr std::size_t max_label_bytes = std::size_t{1} << 30;

}  // namespace

class TargetGroupMaker::Impl {
 public:
    TargetGroupPtr make(std::string_view source, const LabelMap& labels,
                        const std::vector<LabelMap>& targets) {
        check(source, targets.size());
        blocks_.clear();
        ends_.clear();
        bytes_ = 0;
        add("labels", labels);
        for (std::size_t i = 0; i < targets.size(); ++i) {
            end_target();
            add("targets[" + std::to_string(i) + "]", targets[i]);
        }
        end_target();
        return detail::Access::make_group<TargetGroup>(source, blocks_, ends_, std::string_view());
    }

 private:
    static void check(std::string_view source, std::size_t targets) {
        if (source.empty()) throw ConfigError("source", "is empty; each group needs one");
        if (source.size() > max_source_bytes) {
            throw ConfigError("source", "is longer than 64 KiB");
        }
        if (!detail::is_utf8(source)) throw ConfigError("source", "is not UTF-8");
        if (targets > max_own_targets) {
            throw ConfigError("targets", "there are more than 1000000");
        }
    }

    void end_target() { ends_.push_back({.blocks = static_cast<std::uint32_t>(blocks_.size())}); }
    void add(const std::string& where, const LabelMap& labels) {
        if (labels.empty()) return;
        names_.clear();
        packed_.clear();
        for (const auto& [name, value] : labels) {
            if (name.empty()) throw ConfigError(where, "a label has no name");
            const bool utf8 = detail::is_utf8(name) && detail::is_utf8(value);
            if (!utf8) throw ConfigError(where, "the name or value of a label is not UTF-8");
            bytes_ += name.size() + value.size();
            if (bytes_ > max_label_bytes) {
                throw ConfigError(where, "the labels of the group exceed 1 GiB");
            }
            names_.push_back(name);
            detail::pack_value(packed_, value);
        }
        blocks_.push_back(detail::LabelBlock::make(shape(), packed_));
    }

    detail::LabelShapePtr shape() {
        std::size_t hash = names_.size();
        for (const std::string_view name : names_) hash = hash * 31 + detail::seeded_hash(name);
        const auto equal = [this](const detail::LabelShape& shape) {
            return std::equal(names_.begin(), names_.end(), shape.entries().begin(),
                              shape.entries().end(),
                              [](std::string_view a, const auto& b) { return a == b.name; });
        };
        return shapes_.get(hash, equal, [this] {
            return detail::LabelShapePtr(
                new detail::LabelShape(detail::LabelShape::OwnNames{names_}));
        });
    }

    detail::RecentCache<detail::LabelShapePtr> shapes_{1024};
    std::vector<std::string_view> names_;
    std::string packed_;
    std::vector<detail::LabelBlockPtr> blocks_;
    std::vector<detail::TargetEnd> ends_;
    std::size_t bytes_ = 0;
};

TargetGroupMaker::TargetGroupMaker() : impl_(std::make_unique<Impl>()) {}
TargetGroupMaker::TargetGroupMaker(TargetGroupMaker&&) noexcept = default;
TargetGroupMaker& TargetGroupMaker::operator=(TargetGroupMaker&&) noexcept = default;
TargetGroupMaker::~TargetGroupMaker() = default;

TargetGroupPtr TargetGroupMaker::make(std::string_view source, const LabelMap& labels,
                                      const std::vector<LabelMap>& targets) {
    return impl_->make(source, labels, targets);
}

}  // namespace k8s_sd::inline v0
