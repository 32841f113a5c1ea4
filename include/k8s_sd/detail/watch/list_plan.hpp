#pragma once

#include "k8s_sd/detail/watch/list_forms.hpp"
#include "k8s_sd/detail/watch/resource_version.hpp"
#include "k8s_sd/error.hpp"

#include <cstddef>
#include <string>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// Which LIST comes next: from which version, and in which form, see ListForms.
class ListPlan {
 public:
    /// An empty version asks for the most recent state, others for one at least as new.
    struct Request {
        std::string resource_version{};
        std::string continue_token{};
        unsigned limit = 0;
        bool streamed = false;        ///< as the first events of a watch, which goes on behind them
        bool other_encoding = false;  ///< than the usual one
        bool hasty = false;  ///< another form may answer sooner: the wait for this is short
        bool first = false;  ///< no form of the list has failed yet
    };
    struct Page {
        std::string resource_version;
        std::string continue_token;  ///< empty: the list is complete
        std::size_t items = 0;
    };
    /// What there is to choose from.
    struct Options {
        unsigned page_size = 0;
        std::size_t max_objects = 0;
        bool first_from_cache = false;
        bool streams = false;         ///< lists may come as the first events of a watch
        bool other_encoding = false;  ///< there is one besides the usual
    };

    explicit ListPlan(const Options& options) : options_(options) {}

    /// What the server is known for, for the next list.
    void know(const ListMemory::Known& known) { known_ = known; }
    /// \param known     the version of what is known; empty: nothing is
    /// \param streamed  whether it is worth trying to get the list with a watch
    Request next(const std::string& known, bool streamed) {
        if (!forms_.begun()) begin(!asks_not_older(known), streamed);
        const ListForm form = forms_.current();
        Request request{.other_encoding = form.other_encoding,
                        .hasty = is_hasty(),
                        .first = forms_.none_failed()};
        if (form.shape == ListShape::pages) request.limit = options_.page_size;
        request.streamed = form.shape == ListShape::streamed;
        // An API server takes any number of objects behind a token, and no version.
        if (in_chain()) {
            request.continue_token = chain_.token;
            request.limit = options_.page_size;
        } else if (form.shape == ListShape::pages || !asks_not_older(known)) {
            request.resource_version = first_version(known);
        } else {
            request.resource_version = known;
        }
        return request;
    }
    /// Whether the list that is under way is asked for from some version on.
    bool has_version(const std::string& known) const {
        return !most_recent_ && (!known.empty() || options_.first_from_cache);
    }
    /// Why the page cannot belong to a list that ends.
    error_code problem_of(const Page& page) const {
        if (chain_.items + page.items > options_.max_objects) return errc::too_many_objects;
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
        forms_.on_part();
    }
    /// Whether more pages of a list that has begun are to be asked for.
    bool in_chain() const noexcept { return !chain_.token.empty(); }
    /// The list is complete. \returns its version
    std::string finish() {
        begin_anew(false);
        return std::exchange(chain_, {}).version;
    }

    /// The answer has not come through, or is of no use.
    /// \param for_good  see ListForms::on_failure(). So is `teaches`.
    void on_failure(bool for_good = false, bool teaches = true) {
        const bool streamed = is_streamed();
        if (!forms_.on_failure(for_good, teaches)) return;
        chain_ = {};
        // What is known is known from the same server: a LIST may come from its cache.
        if (!streamed) most_recent_ = true;
    }
    /// This list does not come with a watch.
    /// \param tried  the server, or the stream, has shown that
    void give_up_stream(bool tried) noexcept {
        stream_refused_ = stream_refused_ || tried;
        tried ? forms_.on_not_streamed() : forms_.skip();
    }
    /// The known version is of no use: the most recent state is the truth.
    void forget_version() {
        chain_ = {};
        begin_anew(true);
    }

    /// How the list that is under way has come through so far, see ListForms.
    const ListForms& forms() const noexcept { return forms_; }
    bool stream_refused() const noexcept { return stream_refused_; }

 private:
    // An API server fills its pages. These are so many that a proxy may cut them, and few enough
    // for one that makes tokens up.
    static constexpr int max_short_pages = 100;

    void begin(bool most_recent, bool streamed) {
        // A list that is at least as new as a version comes from the server's cache, where pages
        // are of no use (with a limit it would have to be of that very version).
        const ListShape usual = most_recent ? ListShape::pages : ListShape::whole;
        const bool first = options_.streams && streamed && known_.streams;
        forms_.begin({.streams_first = first,
                      .streams_last = options_.streams && !first,
                      .usual = known_.shape.value_or(usual),
                      .pages = options_.page_size != 0,
                      .other_encoding = options_.other_encoding});
    }
    void begin_anew(bool most_recent) {
        forms_ = {};
        stream_refused_ = false;
        most_recent_ = most_recent;
    }
    bool is_streamed() const noexcept { return forms_.current().shape == ListShape::streamed; }
    bool is_hasty() const noexcept { return forms_.has_untried() && !known_.slow; }
    bool asks_not_older(const std::string& known) const noexcept {
        return !most_recent_ && !known.empty();
    }
    std::string first_version(const std::string& known) const {
        return options_.first_from_cache && !most_recent_ && known.empty() ? "0" : "";
    }
    bool is_short(const Page& page) const {
        return page.items == 0 || page.items * 10 < options_.page_size;
    }

    struct Chain {
        std::string token;
        std::string version;
        std::size_t items = 0;
        int short_pages = 0;
    };

    Options options_;
    ListMemory::Known known_;
    ListForms forms_;  // of the list that is under way
    Chain chain_;
    bool most_recent_ = false;     // list without a version
    bool stream_refused_ = false;  // that list
};

}  // namespace k8s_sd::inline v0::detail
