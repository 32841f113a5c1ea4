#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// The streams of a connection. Identifiers ascend, so a sorted vector serves as the table: for
/// each of thousands of quiet watches it takes a third of the memory of a hash table.
///
/// \tparam Stream  has a member `id`
template <class Stream>
class StreamTable {
 public:
    /// The identifier must exceed all others so far. Invalidates pointers to streams, as erase()
    /// does.
    Stream& add(Stream stream) {
        streams_.push_back(std::move(stream));
        return streams_.back();
    }
    /// Null: no such stream.
    const Stream* find(std::int32_t id) const noexcept {
        const auto found =
            std::lower_bound(streams_.begin(), streams_.end(), id,
                             [](const Stream& stream, std::int32_t of) { return stream.id < of; });
        return found == streams_.end() || found->id != id ? nullptr : &*found;
    }
    Stream* find(std::int32_t id) noexcept {
        return const_cast<Stream*>(std::as_const(*this).find(id));
    }
    /// \pre the stream is in this table
    void erase(const Stream& stream) noexcept {
        streams_.erase(streams_.begin() + (&stream - streams_.data()));
        if (streams_.empty()) std::vector<Stream>().swap(streams_);
    }

    const Stream& back() const noexcept { return streams_.back(); }
    auto begin() const noexcept { return streams_.begin(); }
    auto end() const noexcept { return streams_.end(); }
    bool empty() const noexcept { return streams_.empty(); }
    std::size_t size() const noexcept { return streams_.size(); }

 private:
    std::vector<Stream> streams_;
};

}  // namespace k8s_sd::inline v0::detail
