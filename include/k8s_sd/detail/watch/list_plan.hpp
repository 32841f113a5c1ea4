#pragma once

#include "k8s_sd/detail/watch/resource_version.hpp"
#include "k8s_sd/error.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// Which LIST comes next: from which version, as the first events of a watch, in pages or in one
/// piece. Remembers what the server, and the way to it, let through.
class ListPlan {
 public:
    /// An empty version asks for the most recent state, others for one at least as new.
    struct Request {
        std::string resource_version;
        std::string continue_token;
        unsigned limit = 0;
        bool streamed = false;  ///< as the first events of a watch, which goes on behind them
    };
    struct Page {
        std::string resource_version;
        std::string continue_token;  ///< empty: the list is complete
        std::size_t items = 0;
    };

    ListPlan(unsigned page_size, std::size_t max_objects, bool first_from_cache)
        : page_size_(page_size), max_objects_(max_objects), first_from_cache_(first_from_cache) {}

    /// \param known     the version of what is known; empty: nothing is
    /// \param streamed  whether it is worth trying to get the list with a watch
    Request next(const std::string& known, bool streamed = false) const {
        if (in_chain()) return {{}, chain_.token, page_size_};
        const bool not_older = !most_recent_ && !known.empty();
        const std::string version = not_older ? known : first_version(known);
        if (in_stream(streamed)) return {version, {}, 0, true};
        if (in_pages(not_older)) return {first_version(known), {}, page_size_};
        return {version, {}, 0};
    }
    /// Why the page cannot belong to a list that ends.
    error_code problem_of(const Page& page) const {
        if (chain_.items + page.items > max_objects_) return errc::too_many_objects;
        if (in_chain() && is_older_version(page.resource_version, chain_.version))
            return errc::malformed_response;
        if (page.continue_token.empty()) return {};
        const bool repeated = page.continue_token == chain_.token;
        const bool endless = is_short(page) && chain_.short_pages >= max_short_pages;
        return repeated || endless ? make_error_code(errc::endless_list) : error_code();
    }
    void add(const Page& page) {
        // The version of the first page: changes between it and the others come with the watch.
        if (!in_chain()) chain_.version = page.resource_version;
        chain_.token = page.continue_token;
        chain_.items += page.items;
        chain_.short_pages += is_short(page) ? 1 : 0;
    }
    /// Whether more pages of a list that has begun are to be asked for.
    bool in_chain() const noexcept { return !chain_.token.empty(); }
    /// The list is complete. \returns its version
    std::string finish() {
        most_recent_ = plainly_ = stream_failed_ = false;
        failed_ = failed_streams_ = 0;
        return std::exchange(chain_, {}).version;
    }

    /// The server does not take the token, or the pages do not end: everything at once from now on.
    void give_up_pages() { use(Form::whole); }
    /// This list does not come with a watch.
    /// \param failed  that was tried
    void give_up_stream(bool failed) noexcept {
        plainly_ = true;
        stream_failed_ = stream_failed_ || failed;
    }
    /// The list that is under way does not come with a watch because that did not work.
    bool stream_failed() const noexcept { return stream_failed_; }
    /// The answer has not come through. After some times another form is tried.
    /// \param streamed  as in next()
    void on_failure(const std::string& known, bool streamed = false) {
        if (in_stream(streamed)) {
            if (++failed_streams_ >= max_failed_streams) give_up_stream(true);
            return;
        }
        if (++failed_ < max_failed || page_size_ == 0) return;
        const bool paged = in_chain() || in_pages(!most_recent_ && !known.empty());
        use(paged ? Form::whole : Form::pages);
    }
    /// The known version is of no use: the most recent state is the truth.
    void forget_version() {
        chain_ = {};
        most_recent_ = true;
    }

 private:
    enum class Form { pages, whole };
    // An API server fills its pages. These are so many that a proxy may cut them, and few enough
    // for one that makes tokens up.
    static constexpr int max_short_pages = 100;
    static constexpr int max_failed = 3;
    static constexpr int max_failed_streams = 2;

    bool in_stream(bool wanted) const noexcept { return wanted && !plainly_ && !in_chain(); }
    // A list that is at least as new as a version comes from the server's cache, where pages are
    // of no use (with a limit it would have to be of that very version).
    bool in_pages(bool not_older) const {
        if (page_size_ == 0) return false;
        return form_.value_or(not_older ? Form::whole : Form::pages) == Form::pages;
    }
    std::string first_version(const std::string& known) const {
        return first_from_cache_ && !most_recent_ && known.empty() ? "0" : "";
    }
    bool is_short(const Page& page) const {
        return page.items == 0 || page.items * 10 < page_size_;
    }
    void use(Form form) {
        form_ = form;
        failed_ = 0;
        forget_version();
    }

    struct Chain {
        std::string token;
        std::string version;
        std::size_t items = 0;
        int short_pages = 0;
    };

    unsigned page_size_;
    std::size_t max_objects_;
    bool first_from_cache_;
    Chain chain_;
    std::optional<Form> form_;  // that has got through where the usual one has not
    bool most_recent_ = false;  // list without a version
    int failed_ = 0;            // times in a row that the same form has
    int failed_streams_ = 0;    // of this list
    bool plainly_ = false;      // this list does not come with a watch
    bool stream_failed_ = false;
};

}  // namespace k8s_sd::inline v0::detail
