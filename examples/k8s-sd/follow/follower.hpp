#pragma once

#include "files/backoff.hpp"
#include "files/target_file.hpp"
#include "files/target_folder.hpp"
#include "follow/list_client.hpp"
#include "follow/list_source.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstddef>
#include <string>

namespace bridge {

/// What is made of the answers of a server: its list in a file. What is no list leaves the file as
/// it is: targets that are old are better than none. No network.
class FollowedList {
 public:
    using Milliseconds = std::chrono::milliseconds;

    /// \param interval  between requests of a server that does not let us wait
    FollowedList(const TargetFolder&, const ListSource&, Milliseconds interval,
                 TargetFile::Complain, FileMetrics&);

    /// The tag of the list that is in the file; empty: none is.
    const std::string& tag() const noexcept { return tag_; }
    /// \param took  how long the answer took
    /// \returns how long to wait before the server is asked again
    Milliseconds use(ListReply, Milliseconds took);
    /// There is no answer.
    Milliseconds fail(const std::string& problem);

 private:
    Milliseconds ask_for_all();
    Milliseconds write(ListReply);
    Milliseconds good(Milliseconds pause);

    const std::string url_;
    const Milliseconds interval_;
    const TargetFile::Complain complain_;
    TargetFile file_;
    Backoff backoff_;
    std::string tag_;
    std::size_t hash_ = 0;  ///< of the list
    std::string problem_;
};

/// Follows a list for ever.
/// \param client, list  outlive it
boost::asio::awaitable<void> follow(boost::asio::any_io_executor, ListClient& client,
                                    FollowedList& list);

}  // namespace bridge
