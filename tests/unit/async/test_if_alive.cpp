#include "k8s_sd/detail/async/strand.hpp"
#include "support/full_executor.hpp"
#include "support/settle.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace k8s_sd;
using detail::if_alive;
using detail::PostedCall;
using test::FullExecutor;
namespace asio = boost::asio;

namespace {

struct CountedOwner : std::enable_shared_from_this<CountedOwner> {
    void note() { notes.emplace_back("note"); }
    void add(const std::string& text, int number) {
        notes.push_back(text + std::to_string(number));
    }
    void update() {
        ++updates;
        if (on_update) on_update();
    }
    void request(asio::io_context& context) {
        next_update.request(context.get_executor(), weak_from_this(), &CountedOwner::update);
    }

    std::vector<std::string> notes;
    std::function<void()> on_update;
    int updates = 0;
    PostedCall next_update;
};

}  // namespace

TEST_CASE("if_alive() calls with the arguments of the handler until the object is destroyed") {
    auto owner = std::make_shared<CountedOwner>();
    const std::weak_ptr<CountedOwner> weak = owner;
    const auto note = if_alive(weak, &CountedOwner::note);
    const auto add = if_alive(weak, &CountedOwner::add);
    int calls = 0;
    const auto count = if_alive(weak, [&](CountedOwner& alive, int number) {
        calls += number;
        alive.note();
    });
    note();
    add("a", 1);
    count(2);
    CHECK(owner->notes == std::vector<std::string>{"note", "a1", "note"});
    CHECK(calls == 2);
    owner.reset();
    CHECK(weak.expired());  // no handler keeps it alive
    note();
    add("a", 1);
    count(2);
    CHECK(calls == 2);
}

TEST_CASE("if_alive() keeps the object until the call returns") {
    auto owner = std::make_shared<CountedOwner>();
    const auto update = if_alive(std::weak_ptr(owner), &CountedOwner::update);
    const std::weak_ptr<CountedOwner> weak = owner;
    bool alive = false;
    owner->on_update = [&] {
        owner.reset();
        alive = !weak.expired();
    };
    update();
    CHECK(alive);
    CHECK(weak.expired());
}

TEST_CASE("PostedCall: requests until the call are one call") {
    asio::io_context context;
    const auto owner = std::make_shared<CountedOwner>();
    owner->request(context);
    owner->request(context);
    CHECK(owner->updates == 0);
    test::settle(context);
    CHECK(owner->updates == 1);
    test::settle(context);
    CHECK(owner->updates == 1);
}

TEST_CASE("PostedCall: a request during the call leads to another one") {
    asio::io_context context;
    const auto owner = std::make_shared<CountedOwner>();
    owner->on_update = [&] {
        if (owner->updates == 1) owner->request(context);
    };
    owner->request(context);
    test::settle(context);
    CHECK(owner->updates == 2);
}

TEST_CASE("PostedCall: a call that throws does not block later ones") {
    asio::io_context context;
    const auto owner = std::make_shared<CountedOwner>();
    owner->on_update = [] { throw std::runtime_error("no memory"); };
    owner->request(context);
    CHECK_THROWS(context.poll());
    owner->on_update = nullptr;
    owner->request(context);
    test::settle(context);
    CHECK(owner->updates == 2);
}

TEST_CASE("PostedCall: a request without memory does not block later ones") {
    asio::io_context context;
    bool full = true;
    const asio::any_io_executor executor = FullExecutor{&context, &full};
    const auto owner = std::make_shared<CountedOwner>();
    const auto request = [&] {
        owner->next_update.request(executor, std::weak_ptr(owner), &CountedOwner::update);
    };
    CHECK_THROWS_AS(request(), std::bad_alloc);
    full = false;
    request();
    test::settle(context);
    CHECK(owner->updates == 1);
}

TEST_CASE("PostedCall: no call after the owner is destroyed") {
    asio::io_context context;
    auto owner = std::make_shared<CountedOwner>();
    bool called = false;
    owner->on_update = [&] { called = true; };
    owner->request(context);
    owner.reset();
    test::settle(context);
    CHECK_FALSE(called);
}
