#include "jobs/waiting_readers.hpp"

#include "http/http_message.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace k8s_sd_program {

namespace {

/// Whether to respond before the reader's time is over.
bool is_news(const ListAnswer& answer, const ListRequest& request) {
    if (answer.body) return !is_known(*answer.body, request.known);
    return answer.why != Refusal::incomplete;
}

/// The interval between searches for disconnected readers.
constexpr std::chrono::seconds sweep_interval{1};

bool is_gone(const ListRequest& request) { return request.gone && *request.gone; }

}  // namespace

bool is_known(const ListBody& body, std::string_view tags) {
    return http::matches_tag(tags, body.tag()) || http::matches_tag(tags, body.gzip_tag());
}

void WaitingReaders::add(ListRequest request, OnList on_list, TimePoint now,
                         const AnswerFor& answer_for) {
    std::chrono::nanoseconds wait = request.wait;
    ListAnswer answer;
    // A reader asking again right after a response must not make lists follow every change.
    const bool later = changed_ && !may_check(now) && wait.count() > 0 && !request.known.empty();
    if (!later) {
        answer = answer_for(request);
        // Without other waiting readers, no evaluation is outstanding.
        if (waiting_.empty()) changed_ = false;
        if (!answer.body) wait = request.first_list_timeout;
        if (is_news(answer, request) || wait.count() <= 0) return on_list(answer);
    }
    if (full(now)) {
        if (later) answer = answer_for(request);
        if (answer.body && !is_known(*answer.body, request.known)) return on_list(answer);
        answer.why = Refusal::limit;
        answer.refusal = std::to_string(max_waiting_) +
                         " requests wait for lists of the job, which is the limit";
        return on_list(answer);
    }
    const TimePoint until = now + std::chrono::duration_cast<Duration>(wait);
    // The first one after a time without such readers.
    if (request.gone && can_go_++ == 0) swept_ = now;
    waiting_.emplace(until, Waiting{std::move(request), std::move(on_list)});
}

std::optional<WaitingReaders::TimePoint> WaitingReaders::due() const {
    if (waiting_.empty()) return std::nullopt;
    TimePoint first = waiting_.begin()->first;
    if (changed_) first = std::min(first, checked_ + pace_);
    return can_go_ != 0 ? std::min<TimePoint>(first, swept_ + sweep_interval) : first;
}

void WaitingReaders::work(TimePoint now, const AnswerFor& answer_for) {
    if (can_go_ != 0 && now >= swept_ + sweep_interval) forget_gone(now);
    if (changed_ && may_check(now) && !waiting_.empty()) deliver_news(now, answer_for);
    while (!waiting_.empty() && waiting_.begin()->first <= now) {
        const Waiting reader = std::move(waiting_.extract(waiting_.begin()).mapped());
        if (reader.request.gone) --can_go_;
        reader.on_list(answer_for(reader.request));
    }
}

void WaitingReaders::deliver_news(TimePoint now, const AnswerFor& answer_for) {
    changed_ = false;
    checked_ = now;
    std::erase_if(waiting_, [&](const auto& waiting) {
        const auto& [request, on_list] = waiting.second;
        const ListAnswer answer = answer_for(request);
        if (!is_news(answer, request)) return false;
        if (request.gone) --can_go_;
        on_list(answer);
        return true;
    });
}

/// Drops disconnected readers before refusing anyone. At most once per pace: a refused reader may
/// try again at once.
bool WaitingReaders::full(TimePoint now) {
    if (waiting_.size() >= max_waiting_ && now >= swept_ + pace_) forget_gone(now);
    return waiting_.size() >= max_waiting_;
}

void WaitingReaders::forget_gone(TimePoint now) {
    swept_ = now;
    std::erase_if(waiting_, [&](const auto& waiting) {
        if (!is_gone(waiting.second.request)) return false;
        --can_go_;
        return true;
    });
}

void WaitingReaders::end(const AnswerFor& answer_for) {
    can_go_ = 0;
    for (const auto& [until, reader] : std::exchange(waiting_, {})) {
        reader.on_list(answer_for(reader.request));
    }
}

}  // namespace k8s_sd_program
