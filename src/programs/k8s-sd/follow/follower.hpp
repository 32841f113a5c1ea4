#pragma once

#include "files/folder_file.hpp"
#include "files/retry_delays.hpp"
#include "files/target_folder.hpp"
#include "follow/list_client.hpp"
#include "follow/list_source.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstddef>
#include <string>

namespace k8s_sd_program {

/// Writes the list in the responses of a server to a file. An invalid list leaves the file
/// unchanged: stale targets are better than none. No network.
class FollowedList {
 public:
    using Milliseconds = std::chrono::milliseconds;

    /// \param interval  between requests if the server does not support long polls
    FollowedList(const TargetFolder&, const ListSource&, Milliseconds interval,
                 FolderFile::Complain, FileMetrics&);

    /// The tag of the list in the file; empty: none.
    const std::string& tag() const noexcept { return tag_; }
    /// \returns the delay before the next request
    Milliseconds use(ListReply);
    /// No response.
    Milliseconds fail(const std::string& problem);

 private:
    Milliseconds ask_for_all();
    Milliseconds write(ListReply);
    Milliseconds good(Milliseconds pause);

    const std::string url_;
    const Milliseconds interval_;
    const FolderFile::Complain complain_;
    FolderFile file_;
    RetryDelays backoff_;
    std::string tag_;
    std::size_t hash_ = 0;  ///< of the list
    std::string problem_;
};

/// Follows a list; never returns.
/// \param client, list  outlive it
boost::asio::awaitable<void> follow(boost::asio::any_io_executor, ListClient& client,
                                    FollowedList& list);

}  // namespace k8s_sd_program
