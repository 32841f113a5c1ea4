#include "support/relabelling.hpp"

using namespace k8s_sd;
using Action = RelabelAction;

namespace {

RelabelStep explain(const LabelMap& input, const RelabelRule& rule,
                    const RelabelOptions& options = {}) {
    MutableLabels labels;
    test::fill(labels, input);
    const auto steps = Relabeler({rule}, options).explain(labels);
    REQUIRE(steps.size() == 1);
    return steps.front();
}

std::string reason(const LabelMap& input, const RelabelRule& rule,
                   const RelabelOptions& options = {}) {
    return explain(input, rule, options).reason;
}

const LabelMap web{{"app", "web"}, {"n", "2"}};

}  // namespace

TEST_CASE("Relabeler::explain: each step names its rule, what it compared and what it changed") {
    const Relabeler relabeler({{.source_labels = {"app"}, .target_label = "service"},
                               {.action = Action::labeldrop, .regex = "app|n"},
                               {.action = Action::drop, .source_labels = {"service"}},
                               {.target_label = "late", .replacement = "x"}});
    MutableLabels labels;
    test::fill(labels, web);
    const auto steps = relabeler.explain(labels);
    REQUIRE(steps.size() == 3);
    CHECK(steps[0].rule == 0);
    CHECK(steps[0].reason == "app is \"web\", which `(.*)` matches: service becomes \"web\"");
    CHECK(steps[0].changes == std::vector<RelabelStep::Change>{{"service", "", "web"}});
    CHECK(steps[1].rule == 1);
    CHECK(steps[1].reason == "`app|n` matches 2 of 3 label names: changes 2 labels");
    CHECK(steps[1].changes == std::vector<RelabelStep::Change>{{"app", "web", ""}, {"n", "2", ""}});
    CHECK(steps[2].rule == 2);
    CHECK(steps[2].reason == "service is \"web\", which `(.*)` matches: dropped");
    CHECK(steps[2].dropped);
    CHECK(steps[2].changes.empty());
}

TEST_CASE("Relabeler::explain: the reasons of the actions") {
    CHECK(reason(web, {.source_labels = {"app", "n"}, .regex = "x", .target_label = "t"}) ==
          "app;n is \"web;2\", which `x` does not match: changes nothing");
    CHECK(reason(web, {.target_label = "app", .replacement = ""}) ==
          "without source labels \"\", which `(.*)` matches: deletes app");
    CHECK(reason(web, {.source_labels = {"n"}, .target_label = "$2"}) ==
          "n is \"2\", which `(.*)` matches; the target label would be \"\", which is no label "
          "name: changes nothing");
    CHECK(reason(web, {.action = Action::keep, .source_labels = {"n"}, .regex = "3"}) ==
          "n is \"2\", which `3` does not match: dropped");
    CHECK(reason(web, {.action = Action::keep, .source_labels = {"n"}, .regex = "2"}) ==
          "n is \"2\", which `2` matches: kept");
    CHECK(
        reason(web, {.action = Action::keepequal, .source_labels = {"n"}, .target_label = "app"}) ==
        "n is \"2\", app is \"web\": dropped");
    CHECK(reason({{"a", "baz"}}, {.action = Action::hashmod,
                                  .source_labels = {"a"},
                                  .target_label = "t",
                                  .modulus = 1000}) ==
          "a is \"baz\", whose hash is 16450797887570275976: t becomes \"976\"");
    CHECK(
        reason(web, {.action = Action::uppercase, .source_labels = {"app"}, .target_label = "t"}) ==
        "app is \"web\": t becomes \"WEB\"");
    CHECK(reason(web, {.action = Action::labelmap, .regex = "a(.*)", .replacement = "b$1"}) ==
          "`a(.*)` matches 1 of 2 label names: bpp becomes \"web\"");
    CHECK(reason(web, {.action = Action::replace_all,
                       .source_labels = {"app"},
                       .regex = "e",
                       .target_label = "t",
                       .replacement = "u"}) ==
          "app is \"web\", which `e` matches: t becomes \"wub\"");
    CHECK(reason(web, {.action = Action::drop_if_equal, .source_labels = {"app", "n"}}) ==
          "app, n are not equal: kept");
    CHECK(reason(web, {.action = Action::keep_if_contains,
                       .source_labels = {"n"},
                       .target_label = "app"}) ==
          "app is \"web\", which does not contain all of n: dropped");
    CHECK(reason(web, {.action = Action::keep, .if_ = {"{n=\"3\"}"}}) ==
          "no selector of `if` matches: dropped");
    CHECK(reason(web, {.target_label = "t", .if_ = {"{n=\"3\"}"}}) ==
          "no selector of `if` matches: changes nothing");
    CHECK(reason(web, {.action = Action::drop, .if_ = {"{n=\"3\"}", "{a=\"\"}", "{n=\"2\"}"}}) ==
          "`if` {a=\"\"} matches; without source labels \"\", which `(.*)` matches: dropped");
    CHECK(reason(web, {.source_labels = {"n"}, .target_label = "t", .if_ = {"{n=\"2\"}"}}) ==
          "`if` {n=\"2\"} matches; n is \"2\", which `(.*)` matches: t becomes \"2\"");
}

TEST_CASE("Relabeler::explain: a label that was emptied is none") {
    const Relabeler relabeler({{.target_label = "app", .replacement = ""},
                               {.action = Action::labelmap, .regex = "(.*)", .replacement = "x_$1"},
                               {.target_label = "none", .replacement = ""}});
    MutableLabels labels;
    test::fill(labels, web);
    const auto steps = relabeler.explain(labels);
    REQUIRE(steps.size() == 3);
    CHECK(steps[1].reason == "`(.*)` matches 1 of 1 label names: x_n becomes \"2\"");
    CHECK(steps[2].reason.ends_with(": changes nothing"));
    CHECK(labels.size() == 2);
}

TEST_CASE("Relabeler::explain: a dropped target has no changes, odd values are escaped") {
    const RelabelStep step =
        explain({{"a", "x\n\"y\""}}, {.action = Action::drop, .source_labels = {"a"}});
    CHECK(step.dropped);
    CHECK(step.changes.empty());
    CHECK(step.reason == "a is \"x\\n\\\"y\\\"\", which `(.*)` matches: dropped");
}
