#include "k8s_sd/objects/store.hpp"
#include "k8s_sd/objects/store_writer.hpp"
#include "support/stored_object.hpp"

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace k8s_sd;
using test::all_keys;
using test::stored;
using test::StoredObject;
using test::StoredPtr;

namespace {

using TestStore = Store<StoredObject>;

/// Writes one batch.
template <class Write>
void write(const TestStore& store, Write&& changes) {
    auto batch = StoreWriter<StoredObject>(store).begin();
    changes(batch);
    batch.publish();
}
void put(const TestStore& store, const StoredPtr& object) {
    write(store, [&](auto& batch) { batch.put(object); });
}

std::set<StoredPtr> set_of(const std::vector<StoredPtr>& objects) {
    CHECK(std::set(objects.begin(), objects.end()).size() == objects.size());
    return {objects.begin(), objects.end()};
}
using Objects = std::set<StoredPtr>;

}  // namespace

TEST_CASE("Store: it has what was written, once the batch is published") {
    TestStore store;
    CHECK(store.size() == 0);
    CHECK(store.generation() == 0);
    CHECK_FALSE(store.synced());
    CHECK(store.find("shop", "web") == nullptr);

    const StoredPtr web = stored("shop", "web");
    {
        auto batch = StoreWriter<StoredObject>(store).begin();
        batch.put(web);
        CHECK(store.find("shop", "web") == nullptr);
        batch.publish();
    }
    CHECK(store.find("shop", "web") == web);
    CHECK(store.find(ObjectKey("shop", "web")) == web);
    CHECK(store.find("", "shopweb") == nullptr);
    CHECK(store.find("sho", "pweb") == nullptr);
    CHECK(store.size() == 1);
    CHECK(store.generation() == 1);
    CHECK(store.synced());
}

TEST_CASE("Store: copies are the same store") {
    TestStore store;
    const TestStore copy = store;
    put(store, stored("shop", "web"));
    CHECK(copy.size() == 1);
    CHECK(copy == store);
    CHECK(copy != TestStore());
    store = TestStore();
    CHECK(store.size() == 0);
    CHECK(copy.size() == 1);
}

TEST_CASE("Store: an object without namespace is found by its name") {
    TestStore store;
    put(store, stored("", "node-a"));
    CHECK(store.find("node-a"));
    CHECK(store.find("", "node-a"));
}

TEST_CASE("Store: changes of one batch take effect one after the other") {
    TestStore store;
    const StoredPtr first = stored("shop", "web", {}, 1), second = stored("shop", "web", {}, 2);
    const StoredPtr brief = stored("shop", "brief");
    write(store, [&](auto& batch) {
        batch.apply(nullptr, first);
        batch.apply(first, second);
        batch.apply(nullptr, brief);
        batch.apply(brief, nullptr);
    });
    CHECK(store.find("shop", "web") == second);
    CHECK(store.size() == 1);
    write(store, [&](auto& batch) {
        batch.remove({"shop", "web"});
        batch.put(first);
    });
    CHECK(store.find("shop", "web") == first);
    CHECK(store.generation() == 2);
}

TEST_CASE("Store: a batch that was cleared is a complete state") {
    TestStore store;
    const auto index = store.index(all_keys);
    write(store, [](auto& batch) {
        batch.put(stored("shop", "a", {"k"}));
        batch.put(stored("shop", "b"));
    });
    const StoredPtr other = stored("shop", "c", {"k"});
    write(store, [&](auto& batch) {
        batch.clear();
        batch.put(other);
    });
    CHECK(store.size() == 1);
    CHECK(store.find("shop", "a") == nullptr);
    CHECK(index.all("k") == std::vector{other});
    write(store, [](auto& batch) { batch.clear(); });
    CHECK(store.size() == 0);
    CHECK(index.find("k") == nullptr);
    CHECK(store.synced());
}

TEST_CASE("Store: an empty first state is a state") {
    TestStore store;
    write(store, [](auto&) {});
    CHECK(store.synced());
    CHECK(store.generation() == 1);
}

TEST_CASE("Store: a batch without a true change makes no generation") {
    TestStore store;
    const StoredPtr web = stored("shop", "web");
    put(store, web);
    put(store, web);
    write(store, [](auto& batch) { batch.remove({"shop", "unknown"}); });
    CHECK(store.generation() == 1);
}

TEST_CASE("Store: a batch that is dropped changes nothing") {
    TestStore store;
    const auto index = store.index([](const StoredObject& object, IndexKeys& keys) {
        if (object.version == 13) throw std::runtime_error("unlucky");
        all_keys(object, keys);
    });
    const StoredPtr web = stored("shop", "web", {"k"});
    put(store, web);
    { StoreWriter<StoredObject>(store).begin().put(stored("shop", "never")); }
    CHECK_THROWS(write(store, [](auto& batch) {
        batch.put(stored("shop", "web", {"k"}));
        batch.put(stored("shop", "thirteenth", {"k"}, 13));
    }));
    CHECK(store.size() == 1);
    CHECK(index.all("k") == std::vector{web});
    put(store, stored("shop", "later"));
    CHECK(store.size() == 2);
}

TEST_CASE("Store: a snapshot stays as it was, whatever is written") {
    TestStore store;
    const auto index = store.index(all_keys);
    const StoredPtr before = stored("shop", "web", {"old"}, 1);
    put(store, before);
    const Snapshot<StoredObject> snapshot = store.snapshot();
    write(store, [](auto& batch) {
        batch.put(stored("shop", "web", {"new"}, 2));
        batch.put(stored("shop", "db", {"old"}));
    });

    CHECK(snapshot.find("shop", "web") == before);
    CHECK(snapshot.find("shop", "db") == nullptr);
    CHECK(snapshot.size() == 1);
    CHECK(snapshot.generation() == 1);
    CHECK(snapshot.synced());
    CHECK(index.find(snapshot, "old") == before);
    CHECK(index.all(snapshot, "old") == std::vector{before});
    CHECK(index.find(snapshot, "new") == nullptr);
    std::size_t seen = 0;
    snapshot.for_each([&](const StoredPtr& object) { seen += object == before ? 1U : 100U; });
    index.for_each(snapshot, "old",
                   [&](const StoredPtr& object) { seen += object == before ? 1U : 0U; });
    CHECK(seen == 2);

    CHECK(store.find("shop", "web")->version == 2);
    CHECK(index.find("old")->metadata.name == "db");
}

TEST_CASE("Store: a look-up in a snapshot counts nothing, unless the snapshot goes") {
    TestStore store;
    const StoredPtr web = stored("shop", "web");
    put(store, web);
    const auto snapshot = store.snapshot();
    const StoredPtr& found = snapshot.find("shop", "web");
    CHECK(found == web);
    CHECK(web.use_count() == 2);
    const auto kept = store.snapshot().find("shop", "web");
    static_assert(!std::is_reference_v<decltype(store.snapshot().find("shop", "web"))>);
    CHECK(web.use_count() == 3);
}

TEST_CASE("Store: visitors see the object and count nothing") {
    TestStore store;
    const auto index = store.index(all_keys);
    const StoredPtr web = stored("shop", "web", {"k"});
    put(store, web);
    long owners = web.use_count();
    int calls = 0;
    const auto visit = [&](const StoredObject& object) {
        ++calls;
        CHECK(&object == web.get());
        CHECK(web.use_count() == owners);
        // Also if the object is replaced meanwhile.
        write(store, [&](auto& batch) { batch.remove({"shop", "web"}); });
        CHECK(object.metadata.name == "web");
        put(store, web);
    };
    CHECK(store.visit({"shop", "web"}, visit));
    owners = web.use_count();
    CHECK(index.visit("k", visit));
    CHECK_FALSE(store.visit({"shop", "db"}, visit));
    CHECK_FALSE(index.visit("other", visit));
    CHECK(calls == 2);
}

TEST_CASE("Store: what was removed is let go of") {
    TestStore store;
    const auto index = store.index(all_keys);
    StoredPtr web = stored("shop", "web", {"a", "b"});
    const std::weak_ptr<const StoredObject> watched = web;
    put(store, std::exchange(web, nullptr));
    write(store, [](auto& batch) { batch.remove({"shop", "web"}); });
    CHECK(watched.expired());

    put(store, stored("shop", "web"));
    const std::weak_ptr<const StoredObject> read = store.find("shop", "web");
    store.visit({"shop", "web"}, [&](const StoredObject&) {
        write(store, [](auto& batch) { batch.clear(); });
        CHECK_FALSE(read.expired());
    });
    StoreWriter<StoredObject>(store).contact({});
    CHECK(read.expired());
}

TEST_CASE("Store: the writer reports the time of the last contact") {
    TestStore store;
    CHECK_FALSE(store.last_contact());
    const TimePoint when{std::chrono::seconds(5)};
    StoreWriter<StoredObject>(store).contact(when);
    CHECK(store.last_contact() == when);
}

TEST_CASE("Store: for_each sees each object once") {
    TestStore store;
    write(store, [](auto& batch) {
        for (int i = 0; i < 5000; ++i) batch.put(stored("shop", std::to_string(i)));
    });
    std::set<std::string_view> names;
    store.for_each(
        [&](const StoredPtr& object) { CHECK(names.insert(object->metadata.name).second); });
    CHECK(names.size() == 5000);
    CHECK(store.size() == 5000);
}

TEST_CASE("Store: hostile keys are keys") {
    TestStore store;
    const auto index = store.index(all_keys);
    const std::string huge(1'000'000, 'x'), nul(3, '\0');
    const std::vector<StoredPtr> objects = {
        stored("", ""),
        stored(huge, huge),
        stored(huge + "x", huge.substr(1)),
        stored(nul, "a"),
        stored("", nul + "a"),
        stored("a", std::string("b\0c", 3)),
        stored("a/b", ""),
        stored("a", "/b", {huge, huge + "y", "", nul, "same", "same"}),
    };
    write(store, [&](auto& batch) {
        for (const auto& object : objects) batch.put(object);
    });
    CHECK(store.size() == objects.size());
    for (const auto& object : objects) {
        CHECK(store.find(object->metadata.namespace_, object->metadata.name) == object);
    }
    for (const std::string& key : {huge, huge + "y", nul, std::string("same")}) {
        CHECK(index.all(key) == std::vector{objects.back()});
    }
    CHECK(index.find("") == nullptr);
    write(store, [&](auto& batch) {
        for (const auto& object : objects) batch.apply(object, nullptr);
    });
    CHECK(store.size() == 0);
    CHECK(index.find("same") == nullptr);
}

TEST_CASE("Index: an object is found by each of its keys") {
    TestStore store;
    const auto index = store.index(all_keys);
    const StoredPtr web = stored("shop", "web", {"c1", "c2", "c1"});
    put(store, web);
    CHECK(index.find("c1") == web);
    CHECK(index.all("c1") == std::vector{web});
    CHECK(index.find("c2") == web);
    CHECK(index.find("c3") == nullptr);
    CHECK(index.all("c3").empty());
}

TEST_CASE("Index: keys move with the object, and from object to object") {
    TestStore store;
    const auto index = store.index(all_keys);
    put(store, stored("shop", "web", {"c1", "c2"}, 1));
    const StoredPtr web = stored("shop", "web", {"c2", "c3"}, 2);
    put(store, web);
    CHECK(index.find("c1") == nullptr);
    CHECK(index.find("c2") == web);
    CHECK(index.find("c3") == web);

    const StoredPtr bare = stored("shop", "web", {}, 3), db = stored("shop", "db", {"c3"});
    write(store, [&](auto& batch) {
        batch.apply(web, bare);
        batch.apply(nullptr, db);
    });
    CHECK(index.find("c2") == nullptr);
    CHECK(index.all("c3") == std::vector{db});
}

TEST_CASE("Index: a key can have several objects, which come and go") {
    TestStore store;
    const auto index = store.index(all_keys);
    Objects objects;
    write(store, [&](auto& batch) {
        for (int i = 0; i < 200; ++i) {
            const auto object = stored("shop", std::to_string(i), {"node-a"});
            objects.insert(object);
            batch.put(object);
        }
    });
    CHECK(set_of(index.all("node-a")) == objects);
    CHECK(objects.contains(index.find("node-a")));
    // Removes the object that the index would return first.
    while (objects.size() > 1) {
        const StoredPtr gone = index.find("node-a");
        write(store, [&](auto& batch) { batch.apply(gone, nullptr); });
        objects.erase(gone);
        REQUIRE(set_of(index.all("node-a")) == objects);
    }
    const StoredPtr last = *objects.begin();
    write(store, [&](auto& batch) { batch.apply(last, nullptr); });
    CHECK(index.all("node-a").empty());
}

TEST_CASE("Index: an object that others share a key with is replaced among them") {
    TestStore store;
    const auto index = store.index(all_keys);
    for (int version = 0; version < 3; ++version) {
        Objects objects;
        for (const char* name : {"a", "b", "c"}) {
            objects.insert(stored("shop", name, {"k"}, version));
        }
        for (const auto& object : objects) put(store, object);
        CHECK(set_of(index.all("k")) == objects);
    }
}

TEST_CASE("Index: a function can name one key, and none by an empty one") {
    TestStore store;
    const auto by_name = store.index([](const StoredObject& o) { return o.metadata.name; });
    const auto by_text =
        store.index([](const StoredObject& o) -> const std::string& { return o.namespace_text; });
    put(store, stored("", "node-a"));
    put(store, stored("shop", "web"));
    CHECK(by_name.find("web"));
    CHECK(by_text.find("shop")->metadata.name == "web");
    CHECK(by_text.find("") == nullptr);
}

TEST_CASE("Index: declared late it knows all objects, but snapshots of before do not know it") {
    TestStore store;
    const StoredPtr web = stored("shop", "web", {"c1"});
    put(store, web);
    const auto snapshot = store.snapshot();
    const auto index = store.index(all_keys);
    CHECK(index.find("c1") == web);
    CHECK(index.find(snapshot, "c1") == nullptr);
    CHECK(store.generation() == 1);
    CHECK(store.synced());
}

TEST_CASE("Index: declared on an empty store it does not make that synced") {
    TestStore store;
    const auto index = store.index(all_keys);
    CHECK_FALSE(store.synced());
    CHECK(store.generation() == 0);
}

TEST_CASE("Index: a function that changes its mind leaves no key without its object") {
    TestStore store;
    StoredPtr only;
    const auto index = store.index([&](const StoredObject& object, IndexKeys& keys) {
        if (!only || only.get() == &object) all_keys(object, keys);
    });
    for (const char* name : {"a", "b", "c"}) put(store, stored("shop", name, {"k"}));
    only = index.find("k");
    write(store, [&](auto& batch) { batch.apply(only, nullptr); });
    CHECK(index.all("k").empty());
}

TEST_CASE("Index: it keeps the store's contents alive") {
    TestStore store;
    const auto index = store.index(all_keys);
    put(store, stored("shop", "web", {"c1"}));
    store = TestStore();
    CHECK(index.find("c1"));
}
