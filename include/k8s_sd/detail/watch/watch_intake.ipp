#include "k8s_sd/detail/base/hash.hpp"
#include "k8s_sd/detail/objects/object_tag.hpp"
#include "k8s_sd/detail/watch/watch_intake.hpp"

#include <new>
#include <span>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

namespace {

/// More objects than a server returns for a list with limit 1.
constexpr std::size_t max_probed = 100;

/// In one handler. The observer needs microseconds for each.
constexpr std::size_t max_removals = 1'000;

}  // namespace

WatchIntake::WatchIntake(const WatchSubject& subject, WatchObserver& observer,
                         TaggingObserver* tagger, WatchReport& report)
    : subject_(subject), observer_(observer), tagger_(tagger), report_(report) {}

void WatchIntake::forget(std::string_view ns, std::string_view name) {
    report_.on_read(ns, name);
    if (store_.remove(ns, name).before) report_.on_forgotten();
}

void WatchIntake::adopt(ObjectPtr object) {
    adopted_ = true;
    if (store_.put(std::move(object)).after) report_.on_adopted();
}

// --- one object ---------------------------------------------------------------------------------

/// Also false if the observer drops the watcher.
bool WatchIntake::wants(std::string_view ns, std::string_view name) {
    return observer_.wants(ns, name) && !stopped_;
}

WatchIntake::Tag WatchIntake::tag_of(const Exchange& exchange, EventType type,
                                     const DecodedObject& decoded) {
    if (type == EventType::deleted || exchange.purpose == Purpose::probe) return std::nullopt;
    if (!wants(decoded.meta.namespace_, decoded.meta.name)) return std::nullopt;
    if (!subject_.share().contains(decoded.meta.uid)) return std::nullopt;
    return tagger_ ? tagger_->tag_of(decoded) : Tag(std::uint16_t{0});
}

bool WatchIntake::is_one_too_many(Exchange& exchange, EventType type, bool kept,
                                  const api::ObjectMeta& meta) const {
    if (exchange.too_many) return true;
    // A streamed list may contain changes of its own objects before its end.
    const bool is_change = exchange.streams_list() && type != EventType::added &&
                           (type == EventType::deleted || store_.find(meta.namespace_, meta.name));
    if (!exchange.watching() && !is_change) ++exchange.items;
    const bool is_probe = exchange.purpose == Purpose::probe;
    const bool no_room = exchange.watching() && kept &&
                         store_.size() >= subject_.options().max_objects &&
                         !store_.find(meta.namespace_, meta.name);
    exchange.too_many =
        no_room || exchange.items > (is_probe ? max_probed : subject_.options().max_objects);
    return exchange.too_many;
}

void WatchIntake::take(const Exchange& exchange, const DecodedObject& decoded, Tag tag) {
    const api::ObjectMeta& meta = decoded.meta;
    // Asked again: the observer may have learned of a recovery since tag_of(), and dropped a
    // namespace.
    if (!wants(meta.namespace_, meta.name)) return;
    ObjectPtr object = tag ? make(exchange, decoded) : nullptr;
    if (tag && !object) return;
    report_.on_read(meta.namespace_, meta.name);
    if (!tag) return on_change(store_.remove(meta.namespace_, meta.name));
    ObjectTag::set(*object, *tag);
    if (*tag == ObjectTag::apart) tagger_->keep_apart(object);
    if (!decoded.kind_is_certain) return held_.push_back(std::move(object));
    if (exchange.watching()) return on_change(store_.put(std::move(object)));
    on_change(store_.put_listed(std::move(object)));
}

/// \returns null for an object with too large labels
ObjectPtr WatchIntake::make(const Exchange& exchange, const DecodedObject& decoded) {
    try {
        return subject_.maker().make(decoded, subject_.form());
    } catch (const LabelLimitReached& limit) {
        const api::ObjectMeta& meta = decoded.meta;
        take_bad(exchange, {meta.namespace_, meta.name, meta.uid, meta.resource_version,
                            errc::object_too_large, limit.what()});
        return nullptr;
    }
}

void WatchIntake::on_change(const ObjectChange& change) {
    if (stopped_ || (!change.before && !change.after)) return;
    report_.on_change(change);
    try {
        observer_.on_change(change);
    } catch (...) {
        take_back(change);
        throw;
    }
}

/// The observer has not received the change. The server brings it once more, and it has to be one
/// again.
void WatchIntake::take_back(const ObjectChange& change) {
    if (stopped_) return;
    report_.on_change({change.after, change.before});
    store_.undo(change);
}

// --- an unreadable object -----------------------------------------------------------------------

void WatchIntake::count_bad(Exchange& exchange) const {
    exchange.too_many = ++exchange.items > subject_.options().max_objects;
}

void WatchIntake::take_bad(const Exchange& exchange, const BadObject& bad) {
    if (!bad.uid.empty() && !subject_.share().contains(bad.uid)) return;
    if (bad.is_state) keep_last_state(exchange, bad);
    if (stopped_) return;
    if (bad.ns.empty() || bad.name.empty() || wants(bad.ns, bad.name))
        report_.on_bad_object(bad, hides_state(bad));
}

/// Keeps the last state of an unreadable object; another UID proves its deletion.
void WatchIntake::keep_last_state(const Exchange& exchange, const BadObject& bad) {
    if (!is_identified(bad, subject_.kind())) return store_.mark_nameless();
    const Object* known = store_.find(bad.ns, bad.name);
    if (!known) return;
    if (bad.uid.empty() || known->uid_hash() == fnv1a64(bad.uid)) {
        store_.mark_listed(bad.ns, bad.name);
    } else if (exchange.watching()) {
        on_change(store_.remove(bad.ns, bad.name));
    }
}

/// An object over the size limit has an unknown state. So has a list with an unnamed object: any
/// missing object may be this one.
bool WatchIntake::hides_state(const BadObject& bad) const {
    if (!bad.is_state) return false;
    return bad.ec == errc::object_too_large ||
           (store_.has_nameless() && !is_identified(bad, subject_.kind()));
}

std::string WatchIntake::problem_of_count(const Exchange& exchange) const {
    if (exchange.purpose == Purpose::probe)
        return "a list of one object was requested, and has very many before its version";
    return "more than " + std::to_string(subject_.options().max_objects) +
           " objects; select fewer, or raise max_objects";
}

// --- a list -------------------------------------------------------------------------------------

void WatchIntake::end_body(bool complete) {
    const std::vector<ObjectPtr> held = held_.take();
    if (!complete) return;
    for (const ObjectPtr& object : held) on_change(store_.put_listed(object));
}

bool WatchIntake::remove_missing() {
    const std::vector<ObjectChange> removals = store_.finish_list(max_removals);
    for (auto removal = removals.begin(); removal != removals.end(); ++removal) {
        try {
            on_change(*removal);
        } catch (...) {
            restore({removal + 1, removals.end()});
            throw;
        }
    }
    return !store_.is_finishing_list();
}

/// As many as there is memory for.
void WatchIntake::restore(std::span<const ObjectChange> removals) {
    for (const ObjectChange& removal : removals) {
        try {
            store_.undo(removal);
        } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): the others may fit
        }
    }
}

bool WatchIntake::has_lost_much() const {
    return (report_.status().synced || adopted_) && subject_.options().confirm_suspicious_lists &&
           store_.missing() * 2 > store_.known_before_list();
}

}  // namespace k8s_sd::inline v0::detail
