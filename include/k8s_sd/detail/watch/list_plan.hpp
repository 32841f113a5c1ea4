#pragma once

#include "k8s_sd/detail/base/rare.hpp"
#include "k8s_sd/detail/watch/list_forms.hpp"
#include "k8s_sd/detail/watch/resource_version.hpp"
#include "k8s_sd/error.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// Plans the next LIST: its resource version, and its form (see ListForms).
class ListPlan {
 public:
    /// An empty version requests the most recent state, any other one a state at least as new.
    struct Request {
        std::string resource_version{};
        std::string continue_token{};
        unsigned limit = 0;
        bool streamed = false;  ///< request the initial events of a watch, which then continues
        bool other_encoding = false;  ///< other than the usual one
        bool hasty = false;           ///< another form may answer sooner: use a short timeout
        bool first = false;           ///< no form of the list has failed yet
        bool has_time = false;        ///< no form of the list has timed out yet
    };
    struct Page {
        std::string resource_version;
        std::string continue_token;  ///< empty: the list is complete
        std::size_t items = 0;
    };
    /// Available forms.
    struct Options {
        std::size_t max_objects = 0;
        unsigned page_size = 0;
        bool first_from_cache = false;
        bool streams = false;         ///< the initial events of a watch may replace LIST
        bool other_encoding = false;  ///< a second encoding exists
    };

    using Evidence = ListForms::Evidence;

    explicit ListPlan(const Options& options) : options_(options) {}

    /// Sets the known properties of the server for the next list.
    void know(const ListMemory::Known& known) { known_ = {known.streams, known.slow, known.shape}; }
    /// \param known     the last known resource version; empty: none
    /// \param streamed  whether a streamed list is worth a try
    Request next(std::string_view known, bool streamed) {
        if (!forms_ || !forms_->begun()) begin(!asks_not_older(known), streamed);
        const ListRequestForm form = forms_->current();
        Request request{.other_encoding = form.other_encoding,
                        .hasty = is_hasty(),
                        .first = forms_->none_failed(),
                        .has_time = forms_->has_time()};
        if (form.shape == ListShape::pages) request.limit = options_.page_size;
        request.streamed = form.shape == ListShape::streamed;
        // Behind a continue token an API server accepts any limit, but no version.
        if (in_chain()) {
            request.continue_token = chain_->token;
            request.limit = options_.page_size;
        } else if (form.shape == ListShape::pages || !asks_not_older(known)) {
            request.resource_version = first_version(known);
        } else {
            request.resource_version = known;
        }
        return request;
    }
    /// Whether the current list is requested with a resource version.
    bool has_version(std::string_view known) const {
        return !most_recent_ && (!known.empty() || options_.first_from_cache);
    }
    /// An error if the page cannot belong to a finite list.
    error_code problem_of(const Page& page) const {
        const std::size_t before = chain_ ? chain_->items : 0;
        if (before + page.items > options_.max_objects) return errc::too_many_objects;
        if (in_chain() && is_older_version(page.resource_version, chain_->version))
            return errc::malformed_response;
        if (page.continue_token.empty() || !chain_) return {};
        const bool repeated = page.continue_token == chain_->token;
        const bool endless = is_short(page) && chain_->short_pages >= max_short_pages;
        return repeated || endless ? make_error_code(errc::endless_list) : error_code();
    }
    void add(const Page& page) {
        // Keep the version of the first page: the watch delivers changes between it and later
        // pages.
        Chain& chain = chain_.use();
        if (chain.token.empty()) chain.version = page.resource_version;
        chain.token = page.continue_token;
        chain.items += page.items;
        chain.short_pages += is_short(page) ? 1 : 0;
        forms_.use().on_part();
    }
    /// Whether the current list has further pages.
    bool in_chain() const noexcept { return chain_ && !chain_->token.empty(); }
    /// The list is complete.
    /// \returns its resource version
    std::string finish() {
        begin_anew(false);
        const Rare<Chain> complete = std::exchange(chain_, {});
        return complete ? complete->version : std::string();
    }

    /// The response was incomplete or unusable.
    /// \param no_retry  see ListForms::on_failure()
    void on_failure(bool no_retry = false, Evidence evidence = Evidence::against_form) {
        const bool streamed = is_streamed();
        if (!forms_.use().on_failure(no_retry, evidence)) return;
        chain_.reset();
        // The cached state came from the same server, and a LIST may be served from that cache.
        if (!streamed) most_recent_ = true;
    }
    /// Gives up the streamed form for this list.
    /// \param tried  the server or the stream has shown that it does not work
    void give_up_stream(bool tried) {
        stream_refused_ = stream_refused_ || tried;
        tried ? forms_.use().on_not_streamed() : forms_.use().skip();
    }
    /// See ListForms::on_timeout().
    void on_timeout() { forms_.use().on_timeout(); }
    /// The server answers again, but does not stream the list: a LIST may succeed now.
    void on_recovery() { forms_.use().begin_round(); }
    /// Discards the known version and requests the most recent state.
    void forget_version() {
        chain_.reset();
        begin_anew(true);
    }

    /// The forms of the current list and their results so far.
    const ListForms& forms() const noexcept {
        static constexpr ListForms none;
        return forms_ ? *forms_ : none;
    }
    bool stream_refused() const noexcept { return stream_refused_; }

 private:
    // An API server fills its pages. The limit tolerates a proxy with shorter pages, and stops a
    // server with made-up tokens.
    static constexpr int max_short_pages = 100;

    void begin(bool most_recent, bool streamed) {
        // The server answers "at least as new as a version" from its cache, and ignores pagination
        // there (with a limit it would match the exact version).
        const ListShape usual = most_recent ? ListShape::pages : ListShape::whole;
        const bool first = options_.streams && streamed && known_.streams;
        forms_.emplace().begin({.streams_first = first,
                                .streams_last = options_.streams && !first,
                                .usual = known_.shape.value_or(usual),
                                .pages = options_.page_size != 0,
                                .other_encoding = options_.other_encoding});
    }
    void begin_anew(bool most_recent) {
        forms_.reset();
        stream_refused_ = false;
        most_recent_ = most_recent;
    }
    bool is_streamed() const noexcept { return forms().current().shape == ListShape::streamed; }
    bool is_hasty() const noexcept { return forms().has_untried() && !known_.slow; }
    bool asks_not_older(std::string_view known) const noexcept {
        return !most_recent_ && !known.empty();
    }
    std::string first_version(std::string_view known) const {
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
    /// What matters here.
    struct Known {
        bool streams = true;
        bool slow = false;
        std::optional<ListShape> shape{};
    };
    Rare<ListForms> forms_;  // of the current list
    Rare<Chain> chain_;      // the pages so far
    Known known_;
    bool most_recent_ = false;     // list without a version
    bool stream_refused_ = false;  // the current list cannot be streamed
};

}  // namespace k8s_sd::inline v0::detail
