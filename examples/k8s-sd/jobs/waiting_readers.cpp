#include "jobs/waiting_readers.hpp"

#include "support/http_message.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace bridge {

namespace {

/// Whether it is worth telling before the reader's time is over.
bool is_news(const ListAnswer& answer, const ListRequest& request) {
    if (answer.body) return !is_known(*answer.body, request.known);
    return answer.why != Refusal::incomplete;
}

}  // namespace

bool is_known(const ListBody& body, std::string_view tags) {
    return support::matches_tag(tags, body.tag()) || support::matches_tag(tags, body.gzip_tag());
}

void WaitingReaders::add(ListRequest request, OnList on_list, TimePoint now, const Look& look) {
    std::chrono::nanoseconds wait = request.wait;
    ListAnswer answer;
    // Who has just been answered and asks again does not make lists follow every change.
    const bool later = changed_ && !may_look(now) && wait.count() > 0 && !request.known.empty();
    if (!later) {
        answer = look(request);
        // With nobody else who waits, all that there is has been looked at.
        if (waiting_.empty()) changed_ = false;
        if (!answer.body) wait = request.patience;
        if (is_news(answer, request) || wait.count() <= 0) return on_list(answer);
    }
    if (waiting_.size() >= most_) {
        if (later) answer = look(request);
        if (answer.body && !is_known(*answer.body, request.known)) return on_list(answer);
        answer.why = Refusal::limit;
        if (!answer.refusal.empty()) answer.refusal += "; ";
        answer.refusal +=
            std::to_string(most_) + " requests wait for lists of the job, which is the limit";
        return on_list(answer);
    }
    const TimePoint until = now + std::chrono::duration_cast<Duration>(wait);
    waiting_.emplace(until, Waiting{std::move(request), std::move(on_list)});
}

std::optional<WaitingReaders::TimePoint> WaitingReaders::due() const {
    if (waiting_.empty()) return std::nullopt;
    const TimePoint first = waiting_.begin()->first;
    return changed_ ? std::min(first, looked_ + pace_) : first;
}

void WaitingReaders::work(TimePoint now, const Look& look) {
    if (changed_ && may_look(now) && !waiting_.empty()) tell_news(now, look);
    while (!waiting_.empty() && waiting_.begin()->first <= now) {
        const Waiting reader = std::move(waiting_.extract(waiting_.begin()).mapped());
        reader.on_list(look(reader.request));
    }
}

void WaitingReaders::tell_news(TimePoint now, const Look& look) {
    changed_ = false;
    looked_ = now;
    std::erase_if(waiting_, [&](const auto& waiting) {
        const auto& [request, on_list] = waiting.second;
        const ListAnswer answer = look(request);
        if (!is_news(answer, request)) return false;
        on_list(answer);
        return true;
    });
}

void WaitingReaders::end(const Look& look) {
    for (const auto& [until, reader] : std::exchange(waiting_, {})) {
        reader.on_list(look(reader.request));
    }
}

}  // namespace bridge
