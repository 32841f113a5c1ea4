#pragma once

#include "k8s_sd/detail/watch/form_choices.hpp"
#include "k8s_sd/detail/watch/outcome.hpp"
#include "k8s_sd/detail/watch/watch_machine.hpp"
#include "k8s_sd/detail/watch/watch_report.hpp"
#include "k8s_sd/detail/watch/watch_request.hpp"
#include "k8s_sd/detail/watch/watch_server.hpp"
#include "k8s_sd/detail/watch/watch_subject.hpp"
#include "k8s_sd/selector.hpp"

#include <chrono>

namespace k8s_sd::inline v0::detail {

/// The form of the requests of one watch: encoding, compression, share and fields. Learns from
/// responses, and exchanges the results with all watches of the server.
///
/// Used on the watcher's executor. All references must outlive this object. No I/O.
class WatchForms {
 public:
    WatchForms(const WatchSubject&, WatchServer&, WatchReport&);

    /// Whether there is a second encoding.
    bool has_other_encoding() const noexcept { return encoding_.has_other(); }
    /// The forms that work on this server, as far as known.
    ListMemory::Known known() const;
    /// Whether a list may be the initial events of a watch now.
    bool may_stream_list(const WatchMachine::List&) const;

    /// Call before the first page of a list.
    void begin_list(const WatchMachine::List&);
    WatchRequest list(const WatchMachine::List&) const;
    WatchRequest streamed_list(const WatchMachine::List&, std::chrono::seconds timeout) const;
    WatchRequest probe() const;
    WatchRequest watch(const WatchMachine::Watch&, std::chrono::seconds timeout) const;

    /// The server has answered a request successfully.
    void on_success(const Exchange&);
    /// A streamed list has begun.
    /// \returns whether to end it, because it should be compressed and is not
    bool on_stream_begun(const Exchange&);
    /// The server has confirmed or disproved server-side filtering.
    void on_share(bool by_server);
    /// Evaluates a verdict. \param encoding_failed  see is_encoding_of_no_use()
    /// \returns whether to repeat the request at once in another form
    bool on_verdict(const Exchange&, const Verdict&, bool encoding_failed);
    /// A list is complete.
    void on_list(const Exchange&, const WatchMachine&);
    /// The API server has changed.
    void forget() noexcept;

 private:
    bool asks_for_share() const;
    bool drops_managed_fields(bool other_encoding) const;
    bool wants_gzip() const;
    WatchQuery query_to_send() const;
    WatchRequest finish(WatchRequest, bool events) const;
    bool is_parameter_refused(const Exchange&);
    static bool may_be_due_to_gzip(const Exchange&, const Failure&);
    bool fall_back(const Failure&);
    void on_drop(bool with);
    void on_encoding(const ListForms&);
    ListMemory& memory() const noexcept { return server_.traffic()->list_forms; }
    TimePoint now() const noexcept { return server_.now(); }

    const WatchSubject& subject_;
    WatchServer& server_;
    WatchReport& report_;
    EncodingChoice encoding_;
    ShareChoice share_;
    DropChoice drop_;
    /// False: a stream may have failed because the kind was not defined yet.
    const bool teaches_streams_;
    bool gzip_failed_ = false;  ///< since a list was complete
};

/// Whether the server does not serve the requested encoding, or the decoder rejects it.
bool is_encoding_of_no_use(const Exchange&, const Failure&);

}  // namespace k8s_sd::inline v0::detail
