#include "lists/listing.hpp"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

namespace k8s_sd_program {

namespace {

/// Joins targets, in order, to a text for http_sd and file_sd: adjacent targets with equal labels
/// form a group, and a group is a line.
class Joiner {
 public:
    explicit Joiner(std::size_t bytes) { text_.reserve(bytes); }

    void add(const ListedTarget& target) {
        if (last_ && last_->text == target.text) return;
        if (last_ && last_->labels() == target.labels()) {
            text_ += ',';
        } else {
            end_group();
            text_ += last_ ? ",\n" : "\n";
            text_ += R"({"targets":[)";
        }
        text_ += target.target();
        last_ = &target;
    }
    std::string finish() && {
        end_group();
        text_ += last_ ? "\n]\n" : "]\n";
        return std::move(text_);
    }

 private:
    void end_group() {
        if (!last_) return;
        text_ += R"(],"labels":)";
        text_ += last_->labels();
        text_ += '}';
    }

    std::string text_ = "[";
    const ListedTarget* last_ = nullptr;
};

constexpr std::size_t brackets_of_a_group = 30;

}  // namespace

void Listing::replace(const std::string& key, std::vector<ListedTarget> targets) {
    std::sort(targets.begin(), targets.end());
    ++change_;
    const auto place = targets_.lower_bound(key);
    const bool is_known = place != targets_.end() && place->first == key;
    std::vector<Held> before;
    if (is_known) before.swap(place->second);
    std::vector<Held> now;
    now.reserve(targets.size());
    auto old = before.begin();
    for (ListedTarget& target : targets) {
        for (; old != before.end() && **old < target; ++old) remove(**old);
        if (old != before.end() && **old == target) {
            now.push_back(std::move(*old++));
        } else {
            now.push_back(std::make_unique<const ListedTarget>(std::move(target)));
            add(*now.back());
        }
    }
    for (; old != before.end(); ++old) remove(**old);
    if (is_known && now.empty()) {
        targets_.erase(place);
    } else if (is_known) {
        place->second = std::move(now);
    } else if (!now.empty()) {
        targets_.emplace_hint(place, key, std::move(now));
    }
}

void Listing::add(const ListedTarget& target) {
    for (auto& [division, divided] : divisions_) add_to(divided, target);
}

void Listing::add_to(Divided& divided, const ListedTarget& target) const {
    for (std::string& name : divided.divider.parts_of(target)) {
        Part& part = divided.parts[std::move(name)];
        part.targets.insert(&target);
        part.bytes += target.text.size();
        part.change = change_;
    }
}

void Listing::remove(const ListedTarget& target) {
    for (auto& [division, divided] : divisions_) {
        for (const std::string& name : divided.divider.parts_of(target)) {
            const auto part = divided.parts.find(name);
            // Half as many comparisons as erasing by key.
            part->second.targets.erase(part->second.targets.find(&target));
            part->second.bytes -= target.text.size();
            part->second.change = change_;
            if (part->second.targets.empty()) divided.parts.erase(part);
        }
    }
}

/// \throws LimitReached if there is no room for one more
void Listing::admit(const ListDivision& division, TimePoint now) {
    if (division.collectors) forget_other_collectors(division);
    const auto full = [&] { return divisions_.size() >= limits_.divisions; };
    if (full()) sweep(now);
    if (!full()) return;
    throw LimitReached("the list is divided by shards or nodes in " +
                       std::to_string(limits_.divisions) +
                       " other ways, which is the limit; readers should agree on one");
}

/// \throws LimitReached if the list has too many targets for so many shards
void Listing::check_cost(const ListDivision& division) const {
    if (division.shards == 0) return;
    // Storing a target of every shard costs that much more than weighing.
    constexpr std::size_t of_every_shard = 64;
    std::size_t cost = 0;
    for (const auto& [key, targets] : targets_) {
        for (const Held& target : targets) {
            if (division.by_node && !target->node.empty()) continue;
            cost += target->share_key ? 1 : of_every_shard;
        }
    }
    const std::size_t possible =
        std::max<std::size_t>(limits_.division_cost / std::max<std::size_t>(cost, 1), 1);
    if (division.shards <= possible) return;
    throw LimitReached("the list has too many targets for " + std::to_string(division.shards) +
                       " shards; at most " + std::to_string(possible) + " are possible");
}

const Listing::Divided& Listing::divided(const ListDivision& division, TimePoint now) {
    auto it = divisions_.find(division);
    if (it == divisions_.end()) {
        check_cost(division);
        admit(division, now);
        Divided made{Divider(division)};
        ++change_;
        for (const auto& [key, targets] : targets_) {
            for (const Held& target : targets) add_to(made, *target);
        }
        it = divisions_.emplace(division, std::move(made)).first;
    }
    it->second.asked = now;
    return it->second;
}

/// \throws LimitReached if there is no room for the selection
Listing::View& Listing::view(const ListSelection& selection, TimePoint now) {
    auto it = views_.find(selection);
    if (it == views_.end()) {
        const auto full = [&] { return views_.size() >= limits_.views; };
        if (full()) sweep(now);
        if (full()) {
            throw LimitReached(std::to_string(limits_.views) +
                               " selections of the list are in use, which is the limit");
        }
        it = views_.emplace(selection, View()).first;
    }
    it->second.asked = now;
    return it->second;
}

std::vector<std::uint64_t> Listing::changes_of(const Divided& all, const ListSelection& selection) {
    std::vector<std::uint64_t> changes;
    for (const std::string& name : selection.parts()) {
        const auto part = all.parts.find(name);
        changes.push_back(part == all.parts.end() ? 0 : part->second.change);
    }
    return changes;
}

std::optional<std::string> Listing::known_tag(const ListSelection& selection) const {
    const auto view = views_.find(selection);
    const auto all = divisions_.find(selection.division);
    if (view == views_.end() || !view->second.body || all == divisions_.end()) return std::nullopt;
    return changes_of(all->second, selection) == view->second.changes ? view->second.body->tag()
                                                                      : std::string();
}

bool Listing::has_node(const ListSelection& selection) const {
    if (!selection.division.by_node) return true;
    const auto all = divisions_.find(selection.division);
    return all != divisions_.end() && all->second.parts.contains(selection.parts().front());
}

ListBodyPtr Listing::body(const ListSelection& selection, TimePoint now) {
    const Divided& all = divided(selection.division, now);
    std::vector<const Part*> parts;
    for (const std::string& name : selection.parts()) {
        const auto part = all.parts.find(name);
        if (part != all.parts.end()) parts.push_back(&part->second);
    }
    if (parts.empty()) return empty_body();
    View& view = this->view(selection, now);
    std::vector<std::uint64_t> changes = changes_of(all, selection);
    if (view.body && view.changes == changes) return view.body;
    update(view, parts, now);
    view.changes = std::move(changes);
    return view.body;
}

std::size_t Listing::count(const ListSelection& selection, TimePoint now) {
    const Divided& all = divided(selection.division, now);
    std::size_t count = 0;
    for (const std::string& name : selection.parts()) {
        const auto part = all.parts.find(name);
        if (part != all.parts.end()) count += part->second.targets.size();
    }
    return count;
}

const ListBodyPtr& Listing::empty_body() {
    if (!empty_) empty_ = std::make_shared<const ListBody>(join({}, 0), metrics_.held);
    return empty_;
}

void Listing::update(View& view, const std::vector<const Part*>& parts, TimePoint now) {
    std::size_t bytes = 0;
    for (const Part* part : parts) {
        bytes += part->bytes + part->targets.size() * brackets_of_a_group;
    }
    make_room(view, bytes, now);
    std::string text = join(parts, bytes);
    // Keep the body if the text is unchanged: its compressed form stays cached.
    if (view.body && *view.body->bytes() == text) return;
    set_body(view, std::make_shared<const ListBody>(std::move(text), metrics_.held));
}

void Listing::set_body(View& view, ListBodyPtr body) {
    body_bytes_ -= view.bytes();
    view.body = std::move(body);
    body_bytes_ += view.bytes();
}

/// \param view   the view with the body to replace
/// \param bytes  approximate size of the new body \throws LimitReached
void Listing::make_room(View& view, std::size_t bytes, TimePoint now) {
    const auto full = [&] { return body_bytes_ - view.bytes() + bytes > limits_.body_bytes; };
    if (full()) sweep(now);
    if (full()) {
        throw LimitReached("the selections of the list that are in use are larger than " +
                           std::to_string(limits_.body_bytes) + " bytes, which is the limit");
    }
    const auto held = [&] { return *metrics_.held + bytes > limits_.held_bytes; };
    if (held()) sweep(now);
    // Release the old body before making the new one, unless a reader holds it.
    if (held()) set_body(view, nullptr);
    if (!held()) return;
    throw LimitReached(
        "lists, with those that slow readers are still being sent, are larger than " +
        std::to_string(limits_.held_bytes) + " bytes, which is the limit (--max-list-bytes)");
}

std::string Listing::join(const std::vector<const Part*>& parts, std::size_t bytes) const {
    const auto begin = std::chrono::steady_clock::now();
    Joiner joiner(bytes);
    if (parts.size() == 1) {
        for (const ListedTarget* target : parts[0]->targets) joiner.add(*target);
    } else {
        std::vector<const ListedTarget*> targets;
        for (const Part* part : parts) {
            targets.insert(targets.end(), part->targets.begin(), part->targets.end());
        }
        std::sort(targets.begin(), targets.end(), ByText());
        for (const ListedTarget* target : targets) joiner.add(*target);
    }
    std::string text = std::move(joiner).finish();
    metrics_.bodies.fetch_add(1, std::memory_order_relaxed);
    metrics_.body_bytes.fetch_add(text.size(), std::memory_order_relaxed);
    const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - begin;
    metrics_.body_nanoseconds.fetch_add(static_cast<std::uint64_t>(took.count()),
                                        std::memory_order_relaxed);
    return text;
}

/// \param is_forgotten  called with a division, and its last use or that of one of its selections
template <class Predicate>
void Listing::forget(Predicate is_forgotten) {
    std::erase_if(views_, [&](const auto& view) {
        if (!is_forgotten(view.first.division, view.second.asked)) return false;
        body_bytes_ -= view.second.bytes();
        return true;
    });
    std::erase_if(divisions_, [&](const auto& division) {
        return is_forgotten(division.first, division.second.asked);
    });
}

/// There is one allocation at a time: earlier ones are never requested again.
void Listing::forget_other_collectors(const ListDivision& division) {
    forget([&](const ListDivision& other, TimePoint) {
        return other.collectors && other != division;
    });
}

bool Listing::forget_unused(TimePoint now) {
    forget(
        [&](const ListDivision&, TimePoint asked) { return now - asked >= limits_.forget_after; });
    return !divisions_.empty();
}

/// Makes room, at most at a fixed rate: if everything is in use, a refusal must be cheap.
void Listing::sweep(TimePoint now) {
    constexpr std::chrono::seconds pace{1};
    if (now < next_sweep_) return;
    next_sweep_ = now + pace;
    forget_unused(now);
}

}  // namespace k8s_sd_program
