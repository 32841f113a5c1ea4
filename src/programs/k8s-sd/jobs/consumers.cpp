#include "jobs/consumers.hpp"

#include "http/http_message.hpp"

#include <algorithm>
#include <utility>

namespace k8s_sd_program {

namespace {

/// A reader without a request for so many intervals counts as stopped.
constexpr double late_intervals = 2.5;
constexpr double usual_interval = 60;
constexpr double remembered_intervals = 10;

double interval_of(const Consumers::Consumer& consumer) {
    return std::max(1.0, consumer.last.interval.value_or(usual_interval));
}

double unseen(const Consumers::Consumer& consumer, Consumers::TimePoint now) {
    return std::chrono::duration<double>(now - consumer.last_poll).count();
}

bool is_forgotten(const Consumers::Consumer& consumer, Consumers::TimePoint now) {
    const double min_seconds = std::chrono::duration<double>(Consumers::remembered).count();
    return unseen(consumer, now) >
           std::max(min_seconds, remembered_intervals * interval_of(consumer));
}

/// A normalized query: the same text for the same part of the same content.
std::string query_of(const ListPoll& poll) {
    const auto& selection = poll.selection;
    if (!selection) return "(not understood)";
    const ListDivision& division = selection->division;
    std::string text;
    const auto add = [&](const char* name, const std::string& value) {
        (text += text.empty() ? "" : "&").append(name).append("=");
        text += http::query_escaped(value);
    };
    if (!selection->collector.empty()) add("collector_id", selection->collector);
    if (division.by_node) add("node", selection->node);
    if (division.shards != 0) {
        if (division.by_node) add("rest", "rendezvous");
        add("shard", std::to_string(selection->shard));
        add("shards", std::to_string(division.shards));
        if (division.replicas != 1) add("replicas", std::to_string(division.replicas));
    }
    // Last, because it may be long and a long text is truncated.
    if (!poll.content.meta.empty()) {
        const bool relabelled = poll.content.form == ListForm::relabelled;
        add(relabelled ? "keep_meta" : "meta", poll.content.meta.text());
    }
    return text;
}

}  // namespace

void Consumers::saw(ListPoll poll, TimePoint now) {
    for (std::string* text : {&poll.address, &poll.agent, &poll.job, &poll.member}) {
        if (text->size() > max_text_bytes) text->resize(max_text_bytes);
    }
    ConsumerKey key{poll.address, poll.agent, poll.job, std::string(to_string(poll.content.form)),
                    query_of(poll)};
    if (key.selection.size() > max_text_bytes) key.selection.resize(max_text_bytes);
    const std::lock_guard lock(mutex_);
    const auto place = places_.find(key);
    if (place != places_.end()) {
        known_.splice(known_.begin(), known_, place->second);
    } else {
        if (known_.size() == max_consumers_) {
            places_.erase(known_.back().key);
            known_.pop_back();
            ++dropped_;
        }
        known_.push_front({.key = key});
        places_.emplace(std::move(key), known_.begin());
    }
    Consumer& known = known_.front();
    known.last_poll = now;
    ++known.polls;
    known.bytes += poll.bytes;
    if (poll.status >= 400) ++known.errors;
    if (poll.tag.empty()) poll.tag = std::move(known.last.tag);
    known.last = std::move(poll);
}

std::vector<Consumers::Consumer> Consumers::all(TimePoint now) {
    const std::lock_guard lock(mutex_);
    std::erase_if(known_, [&](const Consumer& consumer) {
        const bool forgotten = is_forgotten(consumer, now);
        if (forgotten) places_.erase(consumer.key);
        return forgotten;
    });
    std::vector<Consumer> result(known_.begin(), known_.end());
    for (Consumer& consumer : result) {
        consumer.late = unseen(consumer, now) > late_intervals * interval_of(consumer);
    }
    return result;
}

std::size_t Consumers::seen_since(TimePoint time) const {
    const std::lock_guard lock(mutex_);
    const auto older = std::find_if(known_.begin(), known_.end(), [&](const Consumer& consumer) {
        return consumer.last_poll < time;
    });
    return static_cast<std::size_t>(std::distance(known_.begin(), older));
}

std::uint64_t Consumers::dropped() const {
    const std::lock_guard lock(mutex_);
    return dropped_;
}

}  // namespace k8s_sd_program
