#include "jobs/consumers.hpp"

#include <algorithm>
#include <utility>

namespace bridge {

namespace {

/// Who has not asked for so many intervals has stopped.
constexpr double patience = 2.5;
constexpr double usual_interval = 60;

bool is_late(const Consumers::Consumer& consumer, Consumers::TimePoint now) {
    const double interval = std::max(1.0, consumer.interval.value_or(usual_interval));
    return std::chrono::duration<double>(now - consumer.last_poll).count() > patience * interval;
}

}  // namespace

Consumers::ListName Consumers::list_of(const ConsumerKey& key) {
    return {key.job, key.list, key.selection};
}

void Consumers::saw(ListPoll poll, TimePoint now) {
    ConsumerKey& key = poll.who;
    for (std::string* text : {&key.address, &key.agent, &key.job, &key.list, &key.selection}) {
        if (text->size() > most_bytes) text->resize(most_bytes);
    }
    const std::lock_guard lock(mutex_);
    const auto place = places_.find(key);
    if (place != places_.end()) {
        known_.splice(known_.begin(), known_, place->second);
    } else {
        if (known_.size() == most_) forget_oldest();
        known_.push_front({.consumer = {.key = key}});
        places_.emplace(key, known_.begin());
        ++newest_[list_of(key)].readers;
    }
    Known& known = known_.front();
    known.consumer.interval = poll.interval;
    known.consumer.last_poll = now;
    ++known.consumer.polls;
    known.consumer.bytes += poll.bytes;
    known.consumer.status = poll.status;
    if (poll.status >= 400) ++known.consumer.errors;
    if (poll.tag.empty()) return;
    newest_[list_of(key)].tag = poll.tag;
    known.tag = std::move(poll.tag);
}

void Consumers::forget_oldest() {
    const ConsumerKey& key = known_.back().consumer.key;
    const auto newest = newest_.find(list_of(key));
    if (--newest->second.readers == 0) newest_.erase(newest);
    places_.erase(key);
    known_.pop_back();
    ++dropped_;
}

std::vector<Consumers::Consumer> Consumers::all(TimePoint now, std::size_t limit) const {
    const std::lock_guard lock(mutex_);
    std::vector<Consumer> result;
    for (const Known& known : known_) {
        if (result.size() == limit) break;
        Consumer consumer = known.consumer;
        consumer.current = !known.tag.empty() && known.tag == newest_.at(list_of(consumer.key)).tag;
        consumer.late = is_late(consumer, now);
        result.push_back(std::move(consumer));
    }
    return result;
}

std::size_t Consumers::seen_since(TimePoint time) const {
    const std::lock_guard lock(mutex_);
    const auto older = std::find_if(known_.begin(), known_.end(), [&](const Known& known) {
        return known.consumer.last_poll < time;
    });
    return static_cast<std::size_t>(std::distance(known_.begin(), older));
}

std::uint64_t Consumers::dropped() const {
    const std::lock_guard lock(mutex_);
    return dropped_;
}

}  // namespace bridge
