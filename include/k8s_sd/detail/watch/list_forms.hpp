#pragma once

#include "k8s_sd/detail/client/server_memory.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// A form of the list request.
struct ListRequestForm {
    ListShape shape = ListShape::pages;
    bool other_encoding = false;  ///< other than the usual one of EncodingChoice
    bool operator==(const ListRequestForm&) const = default;
};

/// Forms of one list, tried in order until one succeeds: the cause of a failure may affect only one
/// form. The first form gets two attempts, each other form one; then the order repeats. Both
/// dimensions change early, so a single cause (streams, pages, an encoding) blocks at most two
/// forms.
class ListForms {
 public:
    struct Choice {
        bool streams_first = false;          ///< the usual form is a streamed list
        bool streams_last = false;           ///< a streamed list is the last resort
        ListShape usual = ListShape::pages;  ///< of LIST
        bool pages = true;                   ///< false: pagination is off
        bool other_encoding = false;         ///< a second encoding exists
    };

    /// Starts a list.
    void begin(const Choice& choice) {
        *this = {};
        const ListShape first = choice.pages ? choice.usual : ListShape::whole;
        const ListShape second = !choice.pages               ? ListShape::whole
                                 : first == ListShape::whole ? ListShape::pages
                                                             : ListShape::whole;
        const bool streams = choice.streams_first || choice.streams_last;
        add({ListShape::streamed}, choice.streams_first);
        add({first});
        add({second, true}, choice.other_encoding);
        add({first, true}, choice.other_encoding && second != first);
        add({second}, second != first);
        add({ListShape::streamed}, choice.streams_last && !choice.streams_first);
        add({ListShape::streamed, true}, choice.other_encoding && streams);
    }
    /// What a failure proves about the form of the list, once another form succeeds.
    enum class Evidence : std::uint8_t {
        none,           ///< nothing: the API is missing, or the server overloaded
        against_shape,  ///< the server did not continue its pages: the encoding is not the cause
        against_form,   ///< its shape or its encoding may be the cause
    };

    bool begun() const noexcept { return size_ > 0; }
    ListRequestForm current() const noexcept { return forms_[index_]; }

    /// \param no_retry  a second try of this form would prove nothing more, or take too long
    /// \returns whether the next form follows
    bool on_failure(bool no_retry, Evidence evidence = Evidence::against_form) noexcept {
        const bool has_second_try = at_first() || partly_;
        if (has_second_try && !no_retry && ++failures_ < 2) return false;
        failed_[index_] = evidence;
        if (evidence == Evidence::against_shape) keep_encoding();
        go_on();
        return true;
    }
    /// The server does not serve the streamed form. If that was the first one, the next form takes
    /// its place: a single failure of that one must not count against its encoding.
    void on_not_streamed() noexcept {
        const bool was_first = at_first();
        on_failure(true);
        if (was_first) leading_ = index_;
    }
    /// A response has timed out: the other forms have less time.
    void on_timeout() noexcept { timed_out_ = true; }
    /// The server answers again, although all forms had failed: another round begins, with the
    /// streamed forms last.
    void begin_round() noexcept {
        std::stable_partition(place(0), place(size_), [](const ListRequestForm& form) {
            return form.shape != ListShape::streamed;
        });
        index_ = 0;
        ++rounds_;
        failures_ = 0;
        partly_ = false;
    }
    /// Postpones the current form behind the others, because it is not available now.
    void skip() noexcept {
        if (rounds_ > 0 || std::exchange(postponed_, true)) return go_on();
        std::rotate(place(index_), place(index_ + 1), place(size_));
    }
    /// A page of the list has arrived.
    void on_part() noexcept {
        partly_ = true;
        failures_ = 0;
    }

    /// Whether an untried form is left.
    bool in_first_round() const noexcept { return rounds_ == 0; }
    /// Whether the first round has another form after the current one.
    bool has_untried() const noexcept { return rounds_ == 0 && index_ + 1 < size_; }

    /// Whether this is the first served form in the first round.
    bool at_first() const noexcept { return index_ == leading_ && rounds_ == 0; }
    /// Whether every form before the current one is still untried.
    bool none_failed() const noexcept { return index_ == 0 && rounds_ == 0; }
    /// Whether there is time for a long response: no form has timed out yet.
    bool has_time() const noexcept { return !timed_out_ && rounds_ == 0; }

    // Conclusions from the success of the current form. After the first round there are none: the
    // server was down, and has recovered.

    bool streams_failed() const noexcept {
        return current().shape != ListShape::streamed && has_failed(ListShape::streamed);
    }
    bool usual_encoding_failed() const noexcept {
        return current().other_encoding &&
               has_failed([](const ListRequestForm& form, Evidence evidence) {
                   return !form.other_encoding && evidence == Evidence::against_form;
               });
    }
    /// The preferred shape for the next LIST.
    std::optional<ListShape> better_shape() const noexcept {
        const ListShape shape = current().shape;
        if (shape == ListShape::streamed) return std::nullopt;
        const ListShape other = shape == ListShape::whole ? ListShape::pages : ListShape::whole;
        return has_failed(other) ? std::optional(shape) : std::nullopt;
    }

 private:
    static constexpr std::size_t max_forms = 6;

    void add(ListRequestForm form, bool wanted = true) noexcept {
        if (wanted) forms_[size_++] = form;
    }
    ListRequestForm* place(std::size_t index) noexcept { return forms_.data() + index; }
    /// Moves an untried form of the same encoding and another shape to the next place.
    void keep_encoding() noexcept {
        const auto is_next = [failed = current()](const ListRequestForm& form) {
            return form.shape != failed.shape && form.other_encoding == failed.other_encoding;
        };
        ListRequestForm* const next = std::find_if(place(index_ + 1), place(size_), is_next);
        if (next != place(size_)) std::rotate(place(index_ + 1), next, next + 1);
    }
    void go_on() noexcept {
        failures_ = 0;
        partly_ = false;
        if (++index_ < size_) return;
        index_ = 0;
        ++rounds_;
    }
    bool has_failed(ListShape shape) const noexcept {
        return has_failed([shape](const ListRequestForm& form, Evidence evidence) {
            return form.shape == shape && evidence != Evidence::none;
        });
    }
    template <class Predicate>
    bool has_failed(Predicate of) const noexcept {
        if (rounds_ > 0) return false;
        for (std::size_t i = 0; i < index_; ++i)
            if (of(forms_[i], failed_[i])) return true;
        return false;
    }

    std::array<ListRequestForm, max_forms> forms_{};
    std::array<Evidence, max_forms> failed_{};
    std::size_t size_ = 0;
    std::size_t index_ = 0;
    std::size_t leading_ = 0;  // the first form that is served
    unsigned rounds_ = 0;
    int failures_ = 0;        // of the current form, in a row
    bool postponed_ = false;  // a form was postponed
    bool partly_ = false;     // the current form has delivered a part of the list
    bool timed_out_ = false;  // a form has timed out
};

}  // namespace k8s_sd::inline v0::detail
