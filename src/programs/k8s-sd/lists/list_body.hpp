#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace k8s_sd_program {

using SharedText = std::shared_ptr<const std::string>;

/// The bytes of all lists in memory, including those being sent. Any thread.
using HeldBytes = std::shared_ptr<std::atomic<std::size_t>>;

/// A text counted in `held` as long as it is referenced.
/// \param held  null: not counted
SharedText counted_text(std::string text, const HeldBytes& held);

/// The bytes of a list, for all its readers. Immutable except for results computed on demand;
/// thread-safe.
class ListBody {
 public:
    /// \param held  see counted_text(); it counts the compressed bytes, too
    explicit ListBody(std::string bytes, HeldBytes held = {});

    const SharedText& bytes() const noexcept { return bytes_; }
    /// The compressed bytes: always the same ones.
    SharedText gzip() const;
    /// An ETag: a hash of the bytes, the same in every process, in quotes.
    const std::string& tag() const noexcept { return tag_; }
    /// The tag of gzip(): it is a different sequence of bytes.
    const std::string& gzip_tag() const noexcept { return gzip_tag_; }
    const HeldBytes& held() const noexcept { return held_; }

 private:
    const HeldBytes held_;
    const SharedText bytes_;
    const std::string tag_;
    const std::string gzip_tag_;
    mutable std::once_flag compressed_;
    mutable SharedText gzip_;
};

using ListBodyPtr = std::shared_ptr<const ListBody>;

}  // namespace k8s_sd_program
