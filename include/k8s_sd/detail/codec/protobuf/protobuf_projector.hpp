#pragma once

#include "k8s_sd/detail/codec/projection.hpp"
#include "k8s_sd/detail/codec/scratch.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// Fills an aggregate with the fields of a protobuf message wanted by a Projection, and skips all
/// others. The depth is bounded by the Projection, whatever the message contains.
///
/// An invalid value does not end the message: it is recorded and skipped, as long as the length of
/// the surrounding message is known.
class ProtobufProjector {
 public:
    /// \param max_record_bytes  maximum size of the texts and elements stored from one message
    ProtobufProjector(TextArena& arena, std::size_t max_record_bytes)
        : arena_(arena), max_record_bytes_(max_record_bytes) {}

    /// The texts of the aggregate are views of the message, and valid as long as it is. Invalid
    /// UTF-8 is replaced, in a copy in the arena.
    void read(const Projection& root, void* aggregate, std::string_view message);

    /// The problem of the last message; empty: none.
    const std::string& problem() const noexcept { return problem_; }
    bool too_large() const noexcept { return too_large_; }
    /// Whether any message so far has a field with a node of type `presence`.
    bool has_presence() const noexcept { return has_presence_; }
    void forget_presence() noexcept { has_presence_ = false; }

 private:
    class Reader;
    /// A message being read, with the path to it for error messages.
    struct Frame {
        const Projection& node;
        const Frame* around = nullptr;
        const Projection* via = nullptr;  ///< the member in the surrounding message; null: none
    };

    void read_message(const Frame&, void* context, std::string_view message);
    void read_value(const Frame&, const Projection& member, void* context, Reader&);
    void read_element(const Frame&, const Projection& member, void* context, std::string_view);
    void read_pair(const Frame&, const Projection& member, void* context, std::string_view);
    void read_number(const Frame&, const Projection& member, void* context, std::int64_t);

    std::string_view keep(std::string_view text);
    [[gnu::noinline]] std::string_view mended_copy(std::string_view text);
    std::string_view keep_bytes(std::string_view bytes) {
        return within_limit(bytes.size()) ? bytes : std::string_view();
    }
    // An element of a vector takes memory even without texts.
    bool count_element(const Projection& around) { return within_limit(around.element_bytes); }
    bool within_limit(std::size_t more) {
        if (more > max_record_bytes_ - kept_) {
            note_too_large();
            return false;
        }
        kept_ += more;
        return true;
    }
    [[gnu::noinline]] void note_too_large();
    void note_problem(const Frame&, const Projection* member, std::string text);
    static std::string path(const Frame&, const Projection* member);

    TextArena& arena_;
    const std::size_t max_record_bytes_;
    std::size_t kept_ = 0;
    std::string problem_;
    bool too_large_ = false;
    bool has_presence_ = false;
};

}  // namespace k8s_sd::inline v0::detail
