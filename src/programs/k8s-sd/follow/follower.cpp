#include "follow/follower.hpp"

#include "follow/list_check.hpp"
#include "k8s_sd/error.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <algorithm>
#include <cstddef>
#include <exception>
#include <functional>
#include <random>
#include <utility>

namespace k8s_sd_program {

namespace asio = boost::asio;
using Milliseconds = FollowedList::Milliseconds;

namespace {

/// The first line, without control characters.
std::string first_line(const std::string& text) {
    constexpr std::size_t max_size = 200;
    std::string line = text.substr(0, std::min(text.find('\n'), max_size));
    std::replace_if(
        line.begin(), line.end(), [](char c) { return c < ' ' || c == '\x7F'; }, '?');
    return line;
}

}  // namespace

FollowedList::FollowedList(const TargetFolder& folder, const ListSource& source,
                           Milliseconds interval, FolderFile::Complain complain,
                           FileMetrics& metrics)
    : url_(source.url),
      interval_(interval),
      complain_(complain),
      file_(folder, source.name, std::move(complain), metrics),
      backoff_(std::random_device()()) {}

Milliseconds FollowedList::use(ListReply reply) {
    // A 304 without delay comes from a server without long polls, whatever it says.
    constexpr Milliseconds has_waited{1'000};
    if (reply.status == 304 && !tag_.empty()) {
        if (!file_.intact()) return ask_for_all();
        return good(reply.waited && reply.took >= has_waited ? Milliseconds(0) : interval_);
    }
    if (reply.status != 200) {
        return fail("status " + std::to_string(reply.status) + ": " + first_line(reply.body));
    }
    if (!is_list(reply.body)) return fail("the answer is no list of targets");
    return write(std::move(reply));
}

/// If the file was removed or changed, agents have other targets, so fetch the list again.
Milliseconds FollowedList::ask_for_all() {
    tag_.clear();
    hash_ = 0;
    return good(Milliseconds(0));
}

/// A server is asked again soon only if the next request is a long poll: if the last one was, or
/// could not be, without a tag.
Milliseconds FollowedList::write(ListReply reply) {
    const bool next_waits = !reply.tag.empty() && (reply.waited || tag_.empty());
    const std::size_t hash = std::hash<std::string>()(reply.body);
    const bool same = std::exchange(hash_, hash) == hash;
    const Milliseconds pause = file_.write(for_files(std::move(reply.body)));
    if (!file_.good()) return pause;
    tag_ = std::move(reply.tag);
    return good(same || !next_waits ? std::max(pause, interval_) : pause);
}

Milliseconds FollowedList::good(Milliseconds pause) {
    problem_.clear();
    backoff_.reset();
    return pause;
}

Milliseconds FollowedList::fail(const std::string& problem) {
    if (std::exchange(problem_, problem) != problem) {
        complain_(url_ + ": " + problem + "; the file is unchanged");
    }
    return backoff_.next();
}

asio::awaitable<void> follow(asio::any_io_executor executor, ListClient& client,
                             FollowedList& list) {
    asio::steady_timer timer(executor);
    for (;;) {
        ListReply reply;
        std::string problem;
        try {
            co_await client.get(list.tag(), reply);
        } catch (const std::exception& e) {
            problem = k8s_sd::in_words(e);
        }
        const Milliseconds pause =
            problem.empty() ? list.use(std::move(reply)) : list.fail(problem);
        timer.expires_after(pause);
        co_await timer.async_wait(asio::use_awaitable);
    }
}

}  // namespace k8s_sd_program
