#pragma once

#include "k8s_sd/detail/base/process_end.hpp"
#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/detail/codec/projection.hpp"
#include "k8s_sd/detail/codec/scratch.hpp"
#include "k8s_sd/detail/text/base64.hpp"
#include "k8s_sd/detail/text/utf8.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Receives the end of each record, and the text of raw objects above the limit.
class RecordSink {
 public:
    virtual void on_record() = 0;
    /// Passes on the next part of an oversized raw object's text.
    /// \param node  the node of the object
    /// \param object  its aggregate, see Projection::element
    virtual void on_oversized(const Projection& /*node*/, void* /*object*/,
                              std::string_view /*part*/) {}

 protected:
    ~RecordSink() = default;
};

/// The handler of a JsonParser that fills aggregates through a Projection. Objects and arrays
/// without a node are skipped, see JsonSkip; raw objects are skipped as well, and their text is
/// kept.
///
/// A value of the wrong type does not end the document: it becomes the problem of its record, and
/// is skipped, but parsed. A record is an element of the array at `records`, or the whole
/// document.
class JsonProjector {
 public:
    JsonProjector(TextArena& arena, std::size_t max_record_bytes, RecordSink& sink)
        : arena_(arena), max_record_bytes_(max_record_bytes), sink_(sink) {}

    /// Called before each document. `records` is an array node under `root`, or null.
    void start(const Projection& root, void* aggregate, const Projection* records) {
        aggregate_ = aggregate;
        records_ = records;
        frames_.clear();
        pending_ = &root;
        has_records_ = false;
        skipping_ = 0;
        has_presence_ = false;
        oversized_ = nullptr;
        clear_problem();
        document_problem_.clear();
        forget_text();
    }

    /// The problem of the current record; empty: none.
    const std::string& problem() const noexcept { return problem_; }
    bool too_large() const noexcept { return too_large_; }
    /// True once the document has a member for the records, even if null.
    bool has_records() const noexcept { return has_records_; }
    /// True once the document has a member with a node of type `presence`.
    bool has_presence() const noexcept { return has_presence_; }
    void clear_problem() {
        problem_.clear();
        too_large_ = false;
        element_bytes_ = 0;
    }
    /// Between two documents: frees the memory of long texts.
    void release() noexcept { CleansedBytes().swap(text_); }
    /// The problem of the document around the records; empty: none.
    const std::string& document_problem() const noexcept { return document_problem_; }

    bool passes_over() const noexcept {
        return skipping_ == 0 && (pending_ == nullptr || pending_->type == Type::raw);
    }
    void on_passing(std::string_view part) {
        if (pending_ != nullptr) take_raw_part(part);
    }
    void on_passed() {
        if (pending_ != nullptr) take_raw();  // otherwise the next key decides
    }
    void on_document_end() {
        if (records_ == nullptr) sink_.on_record();
    }
    void on_object_begin() {
        if (skips()) return enter_skipped();
        const Projection& node = *pending_;
        if (node.type != Type::object && node.type != Type::map) return unwanted("an object");
        void* around = context();
        if (!frames_.empty() && frames_.back().node->type == Type::array) {
            if (!count_element(*frames_.back().node)) return enter_skipped();
            around = frames_.back().node->begin(around);
        }
        frames_.push_back({&node, node.type == Type::object ? node.begin(around) : around});
    }
    void on_object_end() { leave(); }
    void on_array_begin() {
        if (skips()) return enter_skipped();
        if (pending_->type != Type::array) return unwanted("an array");
        frames_.push_back({pending_, context()});
        pending_ = &pending_->element.front();
    }
    void on_array_end() { leave(); }
    void on_key_part(std::string_view part) {
        key_ = {};  // the previous key may be a view of freed text
        if (skipping_ == 0) append(part);
    }
    void on_key(std::string_view rest) {
        if (skipping_ != 0) return;
        key_ = {};
        const Frame& frame = frames_.back();
        const std::string_view key = whole(rest);
        if (frame.node->type == Type::map) {
            const bool wanted = frame.node->wants(key);
            if (wanted) key_ = copy(key);
            pending_ = wanted ? &map_value() : nullptr;
        } else {
            pending_ = frame.node->member(key);
            if (pending_ != nullptr) note_member();
        }
        forget_text();
    }
    void on_string_part(std::string_view part) {
        if (!skips() && takes_text(*pending_)) append(part);
    }
    void on_string(std::string_view rest) {
        if (skips()) return;
        if (!takes_text(*pending_)) return mismatch("a string");
        const Projection& around = *frames_.back().node;
        const std::optional<std::string_view> value =
            around.base64 ? decode(joined(rest)) : copy(joined(rest));
        forget_text();
        if (!value) return not_base64();
        if (around.type != Type::object && !count_element(around)) return after_value();
        if (around.type == Type::map) {
            around.add_pair(context(), key_, *value);
        } else {
            pending_->set_text(context(), *value);
        }
        after_value();
    }
    void on_integer(std::int64_t value) {
        if (skips()) return;
        if (pending_->type != Type::number) return mismatch("a number");
        const bool fits = value >= std::numeric_limits<std::int32_t>::min() &&
                          value <= std::numeric_limits<std::int32_t>::max();
        if (!fits && !pending_->wide) return mismatch("a number outside 32 bits");
        pending_->set_number(context(), value);
        after_value();
    }
    void on_fraction() {
        if (!skips()) mismatch("a fraction");
    }
    void on_boolean(bool value) {
        if (skips()) return;
        if (pending_->type != Type::boolean) return mismatch("a boolean");
        pending_->set_boolean(context(), value);
        after_value();
    }
    // In Kubernetes null means absent. As an item of a list, however, it is not an object.
    void on_null() {
        if (skips()) return;
        if (in_records()) return mismatch("null");
        after_value();
    }

 private:
    using Type = Projection::Type;
    static constexpr std::size_t largest_kept_buffer = 64 * 1024;
    static constexpr std::size_t max_shown_key_size = 64;
    static constexpr std::size_t max_identity_size = 1024;
    static constexpr std::size_t max_identities_size =
        16 * 1024;  // per record, in case keys repeat
    struct Frame {
        const Projection* node;
        void* context;
    };

    [[gnu::noinline]] void take_raw_part(std::string_view part) {
        if (oversized_ == nullptr) {
            if (within_limit(part.size() + text_.size())) return append(part);
            begin_oversized();
        }
        sink_.on_oversized(*pending_, oversized_, part);
    }
    void begin_oversized() {
        oversized_ = raw_aggregate();
        sink_.on_oversized(*pending_, oversized_, {text_.data(), text_.size()});
        forget_text();
    }
    void* raw_aggregate() {
        void* around = context();
        if (frames_.back().node->type == Type::array) around = frames_.back().node->begin(around);
        return pending_->begin(around);
    }
    [[gnu::noinline]] void take_raw() {
        if (oversized_ == nullptr) {
            void* const object = raw_aggregate();
            const std::string_view text(text_.data(), text_.size());
            RawProblem problem = pending_->take_raw(object, text, max_record_bytes_);
            if (problem.too_large) {
                too_large_ = true;
                sink_.on_oversized(*pending_, object, text);
            }
            if (!problem.text.empty()) note_problem(std::move(problem.text));
            forget_text();
        }
        oversized_ = nullptr;
        after_value();
    }
    void note_member() noexcept {
        has_records_ = has_records_ || pending_ == records_;
        if (pending_->type != Type::presence) return;
        has_presence_ = true;
        pending_ = nullptr;
    }
    // A number may be in quotes.
    static bool takes_text(const Projection& node) noexcept {
        return node.type == Type::text || node.set_text != nullptr;
    }
    bool skips() const noexcept { return skipping_ != 0 || pending_ == nullptr; }
    void enter_skipped() noexcept { ++skipping_; }
    // The end of an object or array, possibly within a skipped value.
    void leave() {
        if (skipping_ == 0) {
            frames_.pop_back();
            after_value();
        } else if (--skipping_ == 0) {
            after_value();
        }
    }
    // Records the wrong type, and skips the value.
    [[gnu::noinline]] void mismatch(std::string_view found) {
        note_mismatch(found);
        after_value();
    }
    [[gnu::noinline]] void unwanted(std::string_view bracketed) {
        note_mismatch(bracketed);
        pending_ = nullptr;
        enter_skipped();
    }
    void note_mismatch(std::string_view found) {
        note_problem(std::string(found) + " where " + expected(pending_->type) + " was expected");
    }
    [[gnu::noinline]] void not_base64() {
        note_problem("a string that is not base64");
        after_value();
    }
    [[gnu::noinline]] void note_problem(std::string text) {
        std::string& problem = in_record() ? problem_ : document_problem_;
        if (problem.empty()) problem = path() + ": " + std::move(text);
    }
    bool in_record() const noexcept {
        if (records_ == nullptr) return true;
        for (const Frame& frame : frames_) {
            if (frame.node == records_) return true;
        }
        return false;
    }
    static std::string expected(Type type) {
        switch (type) {
            case Type::object: return "an object";
            case Type::array: return "an array";
            case Type::map: return "an object of strings";
            case Type::text: return "a string";
            case Type::number: return "an integer";
            case Type::boolean: return "a boolean";
            case Type::raw: return "an object";
            case Type::presence: break;
        }
        return {};
    }
    // "status.podIP": the names of the nodes down to the current value.
    std::string path() const {
        std::string joined;
        for (std::size_t i = 0; i < frames_.size(); ++i) {
            const Projection* next = i + 1 < frames_.size() ? frames_[i + 1].node : pending_;
            // At the first key, the pending node is still that of the object.
            if (next != nullptr && next != frames_[i].node && !next->name.empty()) {
                if (!joined.empty()) joined += '.';
                joined += next->name;
            }
            if (frames_[i].node->type == Type::map)
                (joined += '.') += key_.substr(0, max_shown_key_size);
        }
        return joined.empty() ? "the document" : joined;
    }

    void* context() const noexcept { return frames_.empty() ? aggregate_ : frames_.back().context; }
    bool in_records() const noexcept {
        return records_ != nullptr && !frames_.empty() && frames_.back().node == records_;
    }
    // After a wanted value: in an object the next key decides, in an array another element follows.
    void after_value() {
        const bool element = !frames_.empty() && frames_.back().node->type == Type::array;
        pending_ = element ? &frames_.back().node->element.front() : nullptr;
        if (in_records()) sink_.on_record();
    }

    static const Projection& map_value() {
        static const Immortal<Projection> text(Projection{.type = Type::text});
        return *text;
    }
    [[gnu::noinline]] void append(std::string_view part) {
        lost_ = lost_ || !within_limit(part.size() + text_.size());
        if (lost_) {
            if (text_.empty()) text_.push_back('\0');  // see joined()
            return;
        }
        const std::size_t size = text_.size() + part.size();
        if (size > text_.capacity()) text_.reserve(std::min(2 * size, left()));
        text_.insert(text_.end(), part.begin(), part.end());
    }
    void forget_text() noexcept {
        if (!text_.empty()) cleanse_text();
    }
    [[gnu::noinline]] void cleanse_text() noexcept {
        lost_ = false;
        if (text_.capacity() > largest_kept_buffer) return release();
        cleanse(text_.data(), text_.size());
        text_.clear();
    }
    std::string_view whole(std::string_view rest) {
        const std::string_view text = joined(rest);
        return within_limit(text.size()) ? text : std::string_view();
    }
    // The text with its earlier parts, which are within the limit; nothing of a lost text.
    std::string_view joined(std::string_view rest) {
        return text_.empty() ? rest : with_parts(rest);
    }
    [[gnu::noinline]] std::string_view with_parts(std::string_view rest) {
        append(rest);
        return lost_ ? std::string_view() : std::string_view(text_.data(), text_.size());
    }
    std::string_view copy(std::string_view text) {
        if (!is_utf8(text)) return mended_copy(text);
        return within_limit(text.size()) ? arena_.copy(text) : std::string_view();
    }
    [[gnu::noinline]] std::string_view mended_copy(std::string_view text) {
        std::size_t size = 0;
        for_each_utf8_part(text, [&](std::string_view part) { size += part.size(); });
        if (!within_limit(size)) return {};
        char* const start = arena_.room(size);
        char* end = start;
        for_each_utf8_part(text,
                           [&](std::string_view part) { end += part.copy(end, part.size()); });
        return {start, size};
    }
    // nullopt if the text is not base64.
    [[gnu::noinline]] std::optional<std::string_view> decode(std::string_view base64) {
        if (!within_limit(base64.size())) return std::string_view();
        char* const bytes = arena_.room(base64_room(base64.size()));
        const auto size = decode_base64(base64, bytes);
        if (!size) return std::nullopt;
        return std::string_view(bytes, *size);
    }
    // An element of a vector takes memory even without texts.
    bool count_element(const Projection& around) {
        if (!within_limit(around.element_bytes)) return false;
        element_bytes_ += around.element_bytes;
        return true;
    }
    /// The remaining memory of the record, besides an incomplete text.
    std::size_t left() const noexcept {
        return used() < max_record_bytes_ ? max_record_bytes_ - used() : 0;
    }
    std::size_t used() const noexcept { return arena_.size() + element_bytes_; }
    bool within_limit(std::size_t more) {
        return used() + more <= max_record_bytes_ || beyond_limit(more);
    }
    [[gnu::noinline]] bool beyond_limit(std::size_t more) {
        return more == 0 || is_identity(more) || note_too_large();
    }
    /// Object keys and identifying texts are read even beyond the limit.
    bool is_identity(std::size_t size) const noexcept {
        if (size > max_identity_size || frames_.empty()) return false;
        if (pending_ == nullptr || pending_->type == Type::object)
            return frames_.back().node->type == Type::object;  // a key
        return pending_->identity && used() + size <= max_record_bytes_ + max_identities_size;
    }
    bool note_too_large() {
        too_large_ = true;
        note_problem("the object is larger than " + std::to_string(max_record_bytes_) + " bytes");
        return false;
    }

    TextArena& arena_;
    std::size_t max_record_bytes_;
    RecordSink& sink_;
    void* aggregate_ = nullptr;
    const Projection* records_ = nullptr;
    std::vector<Frame> frames_;
    const Projection* pending_ = nullptr;  // node of the next value; null: not wanted
    std::size_t skipping_ = 0;             // depth within a skipped value
    std::string_view key_;                 // of the current pair of a map
    CleansedBytes text_;                   // a string or key received in several parts
    std::string problem_;
    std::string document_problem_;
    std::size_t element_bytes_ = 0;  // of arrays and maps, in the current record
    void* oversized_ = nullptr;      // the raw object with a text above the limit
    bool lost_ = false;              // the text in several parts exceeds the limit
    bool too_large_ = false;
    bool has_records_ = false;
    bool has_presence_ = false;
};

}  // namespace k8s_sd::inline v0::detail
