#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace bridge {

using SharedText = std::shared_ptr<const std::string>;

/// How many bytes of lists anybody holds: who serves them, and who is being sent them. Any thread.
using HeldBytes = std::shared_ptr<std::atomic<std::size_t>>;

/// A text that is counted as long as anybody holds it.
/// \param held  null: it is not counted
SharedText counted_text(std::string text, const HeldBytes& held);

/// The bytes of a list, for all its readers. Immutable but for what is made once when it is asked
/// for; thread-safe.
class ListBody {
 public:
    /// \param held  see counted_text(); it counts the compressed bytes, too
    explicit ListBody(std::string bytes, HeldBytes held = {});

    const SharedText& bytes() const noexcept { return bytes_; }
    /// The same, compressed: always the same bytes.
    SharedText gzip() const;
    /// A hash of the bytes, the same in every process, in quotes: an ETag.
    const std::string& tag() const noexcept { return tag_; }
    /// The tag of gzip(), which is another sequence of bytes.
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

}  // namespace bridge
