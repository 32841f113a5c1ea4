#include "k8s_sd/relabel/relabeler.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <thread>

using namespace k8s_sd;
using Action = RelabelAction;

TEST_CASE("Relabelling: several threads may use one Relabeler") {
    const Relabeler relabeler(
        {{.source_labels = {"a"},
          .regex = "(x+)(y*)z?",
          .target_label = "t",
          .replacement = "$2$1"},
         {.action = Action::hashmod, .source_labels = {"t"}, .target_label = "h", .modulus = 1000},
         {.action = Action::keep, .if_ = {"{t=~\"y+x+\"}"}}});
    const auto work = [&](bool& good) {
        MutableLabels labels;
        for (int i = 0; i < 2'000 && good; ++i) {
            labels.clear();
            labels.set("a", "xxyyy");
            good = relabeler.apply(labels) && labels.get("t") == "yyyxx";
        }
    };
    bool first = true, second = true;
    std::thread other([&] { work(second); });
    work(first);
    other.join();
    CHECK(first);
    CHECK(second);
}

TEST_CASE("Relabelling: several threads may compile and drop equal rules") {
    // The threads share the compiled expressions, which are created and destroyed here.
    const auto work = [](bool& good) {
        for (int i = 0; i < 300 && good; ++i) {
            const std::string regex = "(x+)(y*)" + std::to_string(i % 7) + "?";
            const Relabeler relabeler({{.source_labels = {"a"},
                                        .regex = regex,
                                        .target_label = "t",
                                        .replacement = "$2$1",
                                        .if_ = {"{a=~\"x+.+\"}"}}});
            MutableLabels labels;
            labels.set("a", "xxyyy");
            good = relabeler.apply(labels) && labels.get("t") == "yyyxx";
        }
    };
    bool first = true, second = true, third = true;
    std::thread one([&] { work(first); });
    std::thread two([&] { work(second); });
    work(third);
    one.join();
    two.join();
    CHECK(first);
    CHECK(second);
    CHECK(third);
}
