#pragma once

#include "k8s_sd/detail/text/utf8.hpp"
#include "k8s_sd/target_group.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Reads LEB128 numbers and length-prefixed texts from untrusted bytes. The first malformed value
/// makes the reader fail for good; after it, every result is empty.
class PackedReader {
 public:
    explicit PackedReader(std::string_view bytes) : left_(bytes) {}

    bool failed() const noexcept { return failed_; }
    bool at_end() const noexcept { return left_.empty() && !failed_; }
    std::size_t number() {
        std::size_t number = 0;
        for (unsigned shift = 0; shift < 63; shift += 7) {
            if (left_.empty()) break;
            const auto byte = static_cast<unsigned char>(left_.front());
            left_.remove_prefix(1);
            number |= static_cast<std::size_t>(byte & 0x7FU) << shift;
            if (byte < 0x80U) return number;
        }
        fail();
        return 0;
    }
    /// A number of items of at least one byte each; it fails if they exceed the remaining bytes.
    std::size_t count() {
        const std::size_t count = number();
        if (count <= left_.size()) return count;
        fail();
        return 0;
    }
    std::string_view text() {
        const std::size_t size = count();
        const std::string_view text = left_.substr(0, size);
        left_.remove_prefix(size);
        return text;
    }
    std::string_view utf8() {
        const std::string_view value = text();
        if (is_utf8(value)) return value;
        fail();
        return {};
    }
    void fail() noexcept {
        failed_ = true;
        left_ = {};
    }

 private:
    std::string_view left_;
    bool failed_ = false;
};

/// Whether a snapshot includes the label.
using KeepLabel = std::function<bool(std::string_view name)>;

/// Packs the groups compactly: shared shapes and blocks are stored once.
std::string pack_groups(std::span<const TargetGroupPtr>, const KeepLabel&);

/// The unpacked groups, equal to the packed ones if all of their labels were kept. nullopt for
/// malformed bytes: nothing is unpacked then. The bytes are untrusted.
std::optional<std::vector<TargetGroupPtr>> unpack_groups(std::string_view bytes);

}  // namespace k8s_sd::inline v0::detail
