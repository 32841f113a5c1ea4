#include "k8s_sd/detail/base/access.hpp"
#include "k8s_sd/detail/discovery/snapshots/packed_groups.hpp"

#include <boost/unordered/unordered_flat_map.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

namespace k8s_sd::inline v0::detail {

// The format, with numbers as LEB128 and length-prefixed texts:
//   shapes: count, then for each the count of its entries, and for each entry name and present
//   blocks: count, then for each the number of its shape and its values, packed
//   groups: count, then for each the source, the halves of the share key, the blocks of its
//           labels, the count of its targets, and the address and the blocks of each; a list of
//           blocks is a count and numbers; 0 stands for none
namespace {

void put_number(std::string& out, std::size_t number) {
    for (; number >= 0x80U; number >>= 7U) out += static_cast<char>(0x80U | (number & 0x7FU));
    out += static_cast<char>(number);
}

constexpr std::uint64_t half_of_key = 0xFFFF'FFFFU;

class GroupPacker {
 public:
    explicit GroupPacker(const KeepLabel& keep)
        : keep_(keep), keeps_address_(keep(address_name.text)) {}

    void add(const TargetGroup& group) {
        ++groups_;
        pack_value(group_bytes_, group.source());
        put_number(group_bytes_, group.share_key() >> 32U);
        put_number(group_bytes_, group.share_key() & half_of_key);
        put_blocks(group.labels());
        put_number(group_bytes_, group.size());
        for (std::size_t i = 0; i < group.size(); ++i) {
            const Labels target = group[i];
            pack_value(group_bytes_, keeps_address_ ? Access::address(target) : std::string_view());
            put_blocks(target);
        }
    }
    std::string finish() const {
        std::string out;
        out.reserve(shape_bytes_.size() + block_bytes_.size() + group_bytes_.size() + 32);
        put_number(out, shapes_.size());
        out += shape_bytes_;
        put_number(out, blocks_.size());
        out += block_bytes_;
        put_number(out, groups_);
        return out += group_bytes_;
    }

 private:
    struct Shape {
        std::size_t number = 0;
        std::vector<bool> kept;  ///< empty: all entries
    };

    void put_blocks(const Labels& labels) {
        put_number(group_bytes_, Access::blocks(labels).size());
        for (const LabelBlockPtr& block : Access::blocks(labels)) {
            put_number(group_bytes_, block ? number_of(*block) : 0);
        }
    }
    /// Numbers start at 1.
    std::size_t number_of(const LabelBlock& block) {
        const auto [it, is_new] = blocks_.try_emplace(&block, blocks_.size() + 1);
        if (is_new) put(block);
        return it->second;
    }
    void put(const LabelBlock& block) {
        const Shape& shape = shape_of(block.shape());
        put_number(block_bytes_, shape.number);
        if (shape.kept.empty()) return pack_value(block_bytes_, block.packed());
        std::string values;
        const char* position = block.packed().data();
        for (const bool kept : shape.kept) {
            const std::string_view value = unpack_value(position);
            if (kept) pack_value(values, value);
        }
        pack_value(block_bytes_, values);
    }
    const Shape& shape_of(const LabelShape& shape) {
        const auto [it, is_new] = shapes_.try_emplace(&shape);
        if (!is_new) return it->second;
        it->second.number = shapes_.size() - 1;
        std::vector<bool> kept;
        std::size_t count = 0;
        for (const LabelShape::ShapeEntry& entry : shape.entries()) {
            kept.push_back(keep_(entry.name));
            count += kept.back() ? 1U : 0U;
        }
        put_number(shape_bytes_, count);
        for (std::size_t i = 0; i < kept.size(); ++i) {
            if (!kept[i]) continue;
            pack_value(shape_bytes_, shape.entries()[i].name);
            pack_value(shape_bytes_, shape.entries()[i].present);
        }
        if (count != kept.size()) it->second.kept = std::move(kept);
        return it->second;
    }

    const KeepLabel& keep_;
    const bool keeps_address_;
    boost::unordered_flat_map<const LabelShape*, Shape> shapes_;
    boost::unordered_flat_map<const LabelBlock*, std::size_t> blocks_;
    std::size_t groups_ = 0;
    std::string shape_bytes_, block_bytes_, group_bytes_;
};

class GroupUnpacker {
 public:
    explicit GroupUnpacker(std::string_view bytes)
        : reader_(bytes), budget_(16 * bytes.size() + 4096) {}

    std::optional<std::vector<TargetGroupPtr>> groups() {
        read_shapes();
        read_blocks();
        std::vector<TargetGroupPtr> groups;
        const std::size_t count = reader_.count();
        for (std::size_t i = 0; i < count && !reader_.failed(); ++i) read_group(groups);
        if (!reader_.at_end()) return std::nullopt;
        return groups;
    }

 private:
    void read_shapes() {
        const std::size_t count = reader_.count();
        for (std::size_t i = 0; i < count && !reader_.failed(); ++i) {
            std::vector<LabelShape::ShapeEntry> entries;
            for (std::size_t left = reader_.count(); left > 0; --left) {
                const std::string_view name = reader_.utf8();
                entries.push_back({name, reader_.utf8()});
            }
            spend(sizeof(LabelShape) + entries.size() * sizeof(LabelShape::ShapeEntry));
            shapes_.emplace_back(new LabelShape(LabelShape::OwnEntries{entries}));
        }
    }
    void read_blocks() {
        const std::size_t count = reader_.count();
        blocks_.emplace_back();
        for (std::size_t i = 0; i < count && !reader_.failed(); ++i) {
            const std::size_t shape = reader_.number();
            const std::string_view packed = reader_.text();
            const bool usable = !reader_.failed() && shape < shapes_.size() &&
                                fits(packed, shapes_[shape]->entries().size());
            if (!usable) return reader_.fail();
            spend(sizeof(LabelBlock) + sizeof(LabelBlockPtr) + packed.size());
            blocks_.push_back(LabelBlock::make(shapes_[shape], packed));
        }
    }
    /// Whether it consists of exactly so many texts.
    static bool fits(std::string_view packed, std::size_t values) {
        if (packed.size() > std::numeric_limits<std::uint32_t>::max()) return false;
        PackedReader reader(packed);
        for (std::size_t i = 0; i < values && !reader.failed(); ++i) reader.utf8();
        return reader.at_end();
    }
    void read_group(std::vector<TargetGroupPtr>& groups) {
        const std::string_view source = reader_.utf8();
        const std::uint64_t upper_key = reader_.number();
        const std::uint64_t lower_key = reader_.number();
        if (std::max(upper_key, lower_key) > half_of_key) return reader_.fail();
        spend(sizeof(TargetGroup) + source.size());
        group_blocks_.clear();
        ends_.clear();
        addresses_.clear();
        read_block_list();
        const std::size_t targets = reader_.count();
        end_target();
        for (std::size_t i = 0; i < targets && !reader_.failed(); ++i) {
            const std::string_view address = reader_.utf8();
            spend(sizeof(TargetEnd) + address.size());
            addresses_ += address;
            read_block_list();
            end_target();
        }
        constexpr std::size_t max = Access::max_targets<TargetGroup>();
        const bool usable = !source.empty() && source.size() < max && targets > 0 &&
                            group_blocks_.size() < max && targets < max && addresses_.size() < max;
        if (!usable) reader_.fail();
        if (reader_.failed()) return;
        groups.push_back(Access::make_group<TargetGroup>(source, group_blocks_, ends_, addresses_,
                                                         upper_key << 32U | lower_key));
    }
    void end_target() {
        ends_.push_back({static_cast<std::uint32_t>(group_blocks_.size()),
                         static_cast<std::uint32_t>(addresses_.size())});
    }
    void read_block_list() {
        for (std::size_t left = reader_.count(); left > 0 && !reader_.failed(); --left) {
            const std::size_t number = reader_.number();
            if (number >= blocks_.size()) return reader_.fail();
            spend(sizeof(LabelBlockPtr));
            group_blocks_.push_back(blocks_[number]);
        }
    }

    /// Limits the memory used for a few malicious bytes.
    void spend(std::size_t bytes) {
        if (bytes > budget_) return reader_.fail();
        budget_ -= bytes;
    }

    PackedReader reader_;
    std::size_t budget_;
    std::vector<LabelShapePtr> shapes_;
    std::vector<LabelBlockPtr> blocks_;  ///< the first one is null
    std::vector<LabelBlockPtr> group_blocks_;
    std::vector<TargetEnd> ends_;
    std::string addresses_;
};

}  // namespace

std::string pack_groups(std::span<const TargetGroupPtr> groups, const KeepLabel& keep) {
    GroupPacker packer(keep);
    for (const TargetGroupPtr& group : groups) packer.add(*group);
    return packer.finish();
}

std::optional<std::vector<TargetGroupPtr>> unpack_groups(std::string_view bytes) {
    return GroupUnpacker(bytes).groups();
}

}  // namespace k8s_sd::inline v0::detail
