#include "k8s_sd/detail/objects/object_store.hpp"

#include <catch2/catch_test_macros.hpp>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace k8s_sd;
using k8s_sd::detail::ObjectStore;

namespace {

class Thing final : public Object {
 public:
    Thing(std::string ns, std::string name, std::string content, std::string_view uid)
        : Object(Kind::pod, uid),
          content_(std::move(content)),
          own_ns_(std::move(ns)),
          own_name_(std::move(name)) {
        set_key(own_ns_, own_name_);
    }
    bool same_content(const Object& other) const noexcept override {
        return content_ == static_cast<const Thing&>(other).content_;
    }
    const std::string& content() const noexcept { return content_; }

 private:
    std::string content_, own_ns_, own_name_;
};

/// Of the objects that a list lacks.
constexpr std::size_t no_limit = 1'000'000;

ObjectPtr thing(const std::string& name, const std::string& content, const std::string& uid = "u") {
    return new Thing("ns", name, content, uid);
}
const std::string& content(const ObjectPtr& object) {
    return static_cast<const Thing&>(*object).content();
}

/// "+a=1", "a=1->2", "-a=1" or "" for no change.
std::string words(const ObjectChange& change) {
    if (!change.before && !change.after) return "";
    const std::string name((change.after ? change.after : change.before)->name());
    if (!change.before) return "+" + name + "=" + content(change.after);
    if (!change.after) return "-" + name + "=" + content(change.before);
    return name + "=" + content(change.before) + "->" + content(change.after);
}
std::set<std::string> words(const std::vector<ObjectChange>& changes) {
    std::set<std::string> all;
    for (const ObjectChange& change : changes) all.insert(words(change));
    return all;
}
using Words = std::set<std::string>;

ObjectStore store_of(std::initializer_list<std::pair<const char*, const char*>> things) {
    ObjectStore store;
    store.begin_list();
    for (const auto& [name, value] : things) store.put_listed(thing(name, value));
    store.finish_list(no_limit);
    return store;
}

}  // namespace

TEST_CASE("ObjectStore: objects are found by namespace and name") {
    ObjectStore store;
    CHECK(store.find("ns", "a") == nullptr);
    const auto object = thing("a", "1");
    CHECK(words(store.put(object)) == "+a=1");
    CHECK(store.find("ns", "a") == object.get());
    CHECK(store.find("a", "ns") == nullptr);
    CHECK(store.find("ns", "") == nullptr);
    CHECK(store.size() == 1);
    store.put(ObjectPtr(new Thing("other", "a", "2", "u")));
    CHECK(store.size() == 2);
    CHECK(content(ObjectPtr(store.find("other", "a"))) == "2");
}

TEST_CASE("ObjectStore: equal content is no change and keeps the object that was there") {
    ObjectStore store;
    const auto first = thing("a", "1");
    store.put(first);
    const ObjectChange change = store.put(thing("a", "1"));
    CHECK(!change.before);
    CHECK(!change.after);
    CHECK(store.find("ns", "a") == first.get());
}

TEST_CASE("ObjectStore: a change names what was and what is") {
    ObjectStore store;
    const auto one = thing("a", "1"), two = thing("a", "2");
    store.put(one);
    const ObjectChange change = store.put(two);
    CHECK(change.before == one);
    CHECK(change.after == two);
    CHECK(store.find("ns", "a") == two.get());
    CHECK(store.size() == 1);
}

TEST_CASE("ObjectStore: another UID is a change even if the content is equal") {
    ObjectStore store;
    store.put(thing("a", "1", "u1"));
    const ObjectChange change = store.put(thing("a", "1", "u2"));
    REQUIRE((change.before && change.after));
    CHECK_FALSE(change.before->same_uid(*change.after));
}

TEST_CASE("ObjectStore: what is removed was there, what is not there is not removed") {
    ObjectStore store;
    store.put(thing("a", "1"));
    CHECK(words(store.remove("ns", "b")) == "");
    CHECK(words(store.remove("ns", "a")) == "-a=1");
    CHECK(words(store.remove("ns", "a")) == "");
    CHECK(store.size() == 0);
}

TEST_CASE("ObjectStore: a list of the same objects changes nothing") {
    ObjectStore store = store_of({{"a", "1"}, {"b", "2"}});
    store.begin_list();
    CHECK(words(store.put_listed(thing("b", "2"))) == "");
    CHECK(words(store.put_listed(thing("a", "1"))) == "");
    CHECK(store.finish_list(no_limit).empty());
    CHECK(store.size() == 2);
}

TEST_CASE("ObjectStore: a list brings exactly the differences, removals when it is complete") {
    ObjectStore store = store_of({{"gone", "1"}, {"changed", "1"}, {"same", "1"}, {"gone2", "1"}});
    store.begin_list();
    CHECK(words(store.put_listed(thing("changed", "2"))) == "changed=1->2");
    CHECK(words(store.put_listed(thing("same", "1"))) == "");
    CHECK(words(store.put_listed(thing("new", "1"))) == "+new=1");
    CHECK(store.find("ns", "gone") != nullptr);
    CHECK(words(store.finish_list(no_limit)) == Words{"-gone=1", "-gone2=1"});
    CHECK(store.size() == 3);
    CHECK(store.find("ns", "gone") == nullptr);
}

TEST_CASE("ObjectStore: an empty list removes everything, but not before it is complete") {
    ObjectStore store = store_of({{"a", "1"}, {"b", "2"}});
    store.begin_list();
    CHECK(store.size() == 2);
    CHECK(words(store.finish_list(no_limit)) == Words{"-a=1", "-b=2"});
    CHECK(store.size() == 0);
    store.begin_list();
    CHECK(store.finish_list(no_limit).empty());
}

TEST_CASE("ObjectStore: a list that is never completed removes nothing") {
    ObjectStore store = store_of({{"a", "1"}, {"b", "2"}});
    store.begin_list();
    store.put_listed(thing("a", "9"));
    CHECK(store.size() == 2);
    CHECK(words(store.put(thing("b", "2"))) == "");
}

TEST_CASE("ObjectStore: an object that came in an unusable form stays as it was") {
    ObjectStore store = store_of({{"a", "1"}, {"b", "2"}});
    store.begin_list();
    store.mark_listed("ns", "b");
    store.mark_listed("ns", "unknown");
    store.mark_listed("elsewhere", "a");
    CHECK(words(store.finish_list(no_limit)) == Words{"-a=1"});
    CHECK(store.find("ns", "b") != nullptr);
}

TEST_CASE("ObjectStore: unusable objects that are not known do not hide removals") {
    ObjectStore store = store_of({{"a", "1"}, {"b", "2"}});
    store.begin_list();
    store.put_listed(thing("a", "1"));
    store.mark_listed("ns", "unknown");
    store.mark_listed("ns", "unknown too");
    CHECK(words(store.finish_list(no_limit)) == Words{"-b=2"});
}

TEST_CASE("ObjectStore: a list with an object without a name removes nothing, the next one does") {
    ObjectStore store = store_of({{"a", "1"}, {"b", "1"}});
    store.begin_list();
    store.mark_nameless();
    CHECK(words(store.put_listed(thing("a", "2"))) == "a=1->2");
    CHECK(store.missing() == 1);
    CHECK(store.finish_list(no_limit).empty());
    store.begin_list();
    store.mark_nameless();
    store.begin_list();  // starts again
    store.put_listed(thing("a", "2"));
    CHECK(words(store.finish_list(no_limit)) == Words{"-b=1"});
}

TEST_CASE("ObjectStore: a list that starts again forgets what the first attempt brought") {
    ObjectStore store = store_of({{"a", "1"}});
    store.begin_list();
    store.put_listed(thing("a", "1"));
    store.put_listed(thing("b", "1"));
    store.begin_list();
    store.put_listed(thing("a", "1"));
    CHECK(words(store.finish_list(no_limit)) == Words{"-b=1"});
}

TEST_CASE(
    "ObjectStore: a first list that starts again removes what only its first attempt brought") {
    ObjectStore store;
    store.begin_list();
    store.put_listed(thing("a", "1"));
    store.put_listed(thing("b", "1"));
    store.begin_list();
    store.put_listed(thing("b", "1"));
    CHECK(words(store.finish_list(no_limit)) == Words{"-a=1"});
}

TEST_CASE("ObjectStore: an object that a list brings twice counts once") {
    ObjectStore store = store_of({{"a", "1"}, {"gone", "1"}});
    store.begin_list();
    CHECK(words(store.put_listed(thing("a", "2"))) == "a=1->2");
    CHECK(words(store.put_listed(thing("a", "3"))) == "a=2->3");
    CHECK(words(store.finish_list(no_limit)) == Words{"-gone=1"});
    CHECK(store.size() == 1);
}

TEST_CASE("ObjectStore: of many objects a list removes those that it lacks") {
    const auto name = [](std::size_t i) { return "n" + std::to_string(i); };
    // Around the size at which tables are split into parts, before and during the list.
    for (const std::size_t known : {100U, 4000U, 5000U, 20000U}) {
        for (const std::size_t listed : {0U, 90U, 4000U, 4999U, 30000U}) {
            CAPTURE(known, listed);
            ObjectStore store;
            for (std::size_t i = 0; i < known; ++i) store.put(thing(name(i), "1"));
            store.begin_list();
            for (std::size_t i = 1; i <= listed; ++i) store.put_listed(thing(name(i), "1"));
            store.put_listed(thing(name(0), "2"));  // with another content, at the end
            const std::size_t missing = known > listed ? known - listed - 1 : 0;
            CHECK(store.missing() == missing);
            const auto removals = store.finish_list(no_limit);
            CHECK(removals.size() == missing);
            CHECK(store.size() == listed + 1);
            for (const ObjectChange& removal : removals) {
                if (store.find("ns", removal.before->name())) FAIL("an object is still there");
            }
        }
    }
}

TEST_CASE("ObjectStore: events between the steps of a removal keep what they bring") {
    const auto name = [](std::size_t i) { return "n" + std::to_string(i); };
    for (const std::size_t known : {5U, 100U, 4000U, 20000U}) {
        for (const std::size_t most : {1U, 1000U}) {
            if (known / most > 4000) continue;
            CAPTURE(known, most);
            ObjectStore store;
            for (std::size_t i = 0; i < known; ++i) store.put(thing(name(i), "1"));
            store.begin_list();
            store.put_listed(thing(name(0), "1"));
            std::set<std::string> gone, kept{name(0)};
            const auto step = [&] {
                const auto removals = store.finish_list(most);
                CHECK(removals.size() <= most);
                for (const ObjectChange& removal : removals) {
                    CHECK(gone.emplace(removal.before->name()).second);
                    CHECK_FALSE(kept.contains(std::string(removal.before->name())));
                }
                return store.is_finishing_list();
            };
            std::size_t next = 1;
            while (step()) {
                // An event of an object known before, equal or changed, and of a new one.
                for (const char* content : {"1", "2"}) {
                    const std::string of = name(next++ % known);
                    const bool was_gone = gone.erase(of) > 0;
                    const ObjectChange change = store.put_listed(thing(of, content));
                    CHECK((change.before == nullptr) == (was_gone || !change.after));
                    kept.insert(of);
                }
                kept.insert("new" + name(next));
                store.put_listed(thing("new" + name(next), "1"));
                // Some unnamed object is unreadable: the list itself had none.
                store.mark_nameless();
                // An event of a deletion.
                const std::string deleted = name(known - 1 - next % known);
                if (store.remove("ns", deleted).before) gone.insert(deleted);
                kept.erase(deleted);
                if (next > 5 * known) FAIL("the removal does not end");
            }
            CHECK(store.size() == kept.size());
            for (const std::string& present : kept) CHECK(store.find("ns", present) != nullptr);
            // The next list begins with the usual state.
            store.begin_list();
            CHECK(store.missing() == kept.size());
            CHECK_FALSE(store.is_finishing_list());
        }
    }
}

TEST_CASE("ObjectStore: a list that begins between the steps of a removal takes its place") {
    ObjectStore store = store_of({{"a", "1"}, {"b", "1"}, {"c", "1"}, {"d", "1"}});
    store.begin_list();
    const auto first = store.finish_list(2);
    REQUIRE(first.size() == 2);
    CHECK(store.is_finishing_list());
    store.begin_list();
    CHECK_FALSE(store.is_finishing_list());
    store.put_listed(thing("e", "1"));
    CHECK(store.finish_list(no_limit).size() == 2);
    CHECK(store.size() == 1);
    CHECK(store.find("ns", "e") != nullptr);
}

TEST_CASE("ObjectStore: agrees with a map through random lists and events") {
    std::mt19937 random(3);
    using Content = std::pair<std::string, std::string>;  // UID, content
    std::map<std::string, Content> model;
    ObjectStore store;
    const auto draw = [&](std::uint32_t n) { return std::to_string(random() % n); };
    const auto put = [&](bool listed) {
        const std::string name = draw(12);
        const Content now{draw(2), draw(3)};
        const auto known = model.find(name);
        const bool same = known != model.end() && known->second == now;
        const auto object = thing(name, now.second, now.first);
        const ObjectChange change = listed ? store.put_listed(object) : store.put(object);
        CHECK(static_cast<bool>(change.after) == !same);
        CHECK(static_cast<bool>(change.before) == (known != model.end() && !same));
        model[name] = now;
        return name;
    };
    for (int round = 0; round < 400; ++round) {
        for (auto n = random() % 6; n > 0; --n) put(false);
        const std::string name = draw(12);
        CHECK(static_cast<bool>(store.remove("ns", name).before) == (model.erase(name) == 1));
        std::set<std::string> listed;
        store.begin_list();
        for (auto n = random() % 14; n > 0; --n) {
            if (random() % 10 == 0) {
                store.begin_list();
                listed.clear();
            }
            if (random() % 8 == 0) {
                const std::string bad = draw(12);
                store.mark_listed("ns", bad);
                listed.insert(bad);
            } else {
                listed.insert(put(true));
            }
        }
        std::set<std::string> removed, expected;
        for (const ObjectChange& change : store.finish_list(no_limit))
            removed.emplace(change.before->name());
        for (const auto& [known, value] : model) {
            if (!listed.contains(known)) expected.insert(known);
        }
        CHECK(removed == expected);
        for (const std::string& gone : expected) model.erase(gone);
        REQUIRE(store.size() == model.size());
        for (const auto& [known, value] : model) {
            REQUIRE(store.find("ns", known) != nullptr);
            CHECK(content(ObjectPtr(store.find("ns", known))) == value.second);
        }
    }
}
