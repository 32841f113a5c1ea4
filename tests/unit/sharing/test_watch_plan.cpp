#include "k8s_sd/detail/sharing/watch_plan.hpp"

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <string>
#include <vector>

using namespace k8s_sd;
using k8s_sd::detail::RefusedWatches;
using k8s_sd::detail::WantedObjects;

namespace {

const ObjectShare half = ObjectShare::part(0, 2);

struct Plan {
    Kind kind = Kind::pod;
    std::vector<WantedObjects> views;
    SelectorSharing sharing = SelectorSharing::automatic;
    std::size_t cluster_wide_from = 20;
    RefusedWatches refused;

    /// "ns[labels;fields] ns[...] | ..." with the views in their order.
    std::string text() const {
        std::string text;
        for (const auto& queries :
             detail::plan_watches(kind, views, sharing, cluster_wide_from, refused)) {
            if (!text.empty()) text += " |";
            for (const WatchQuery& query : queries) {
                CHECK(query.kind == kind);
                text += " " + (query.ns.empty() ? "*" : query.ns);
                const std::string selectors = query.label_selector + ";" + query.field_selector;
                if (selectors != ";") text += "[" + selectors + "]";
                if (!query.share.is_all()) text += query.share == half ? "/half" : "/?";
            }
        }
        return text.empty() ? text : text.substr(1);
    }
    Plan& view(std::vector<std::string> namespaces, std::string label, std::string field = {},
               bool here = true) {
        views.push_back({std::move(namespaces), std::move(label), std::move(field), here});
        return *this;
    }
    /// Of the last view.
    Plan& share(const ObjectShare& share) {
        views.back().share = share;
        return *this;
    }
    Plan& refuse(const std::string& ns, const std::string& label = {}) {
        refused.add({kind, ns, label, {}}, TimePoint(), std::chrono::hours(1));
        return *this;
    }
};

}  // namespace

TEST_CASE("Watch plan: one selection is the server's work") {
    CHECK(Plan().view({}, "app=x").text() == "*[app=x;]");
    CHECK(Plan().view({}, "app=x", "status.phase=Running").text() ==
          "*[app=x;status.phase=Running]");
    CHECK(Plan().view({"a", "b"}, "app=x").text() == "a[app=x;] b[app=x;]");
    CHECK(Plan().view({}, "app=x").view({}, "app=x").text() == "*[app=x;] | *[app=x;]");
    CHECK(Plan().text().empty());
}

TEST_CASE("Watch plan: different selections of the same namespaces share a watch") {
    CHECK(Plan().view({}, "app=x").view({}, "app=y").text() == "* | *");
    CHECK(Plan().view({}, "app=x").view({}, "", "status.phase=Running").text() == "* | *");
    CHECK(Plan().view({}, "app=x").view({}, "").text() == "* | *");
    CHECK(Plan().view({"a"}, "app=x").view({"a"}, "app=y").text() == "a | a");
    CHECK(Plan().view({"a"}, "app=x").view({"b"}, "app=y").text() == "a[app=x;] | b[app=y;]");
    CHECK(Plan().view({"a", "b"}, "app=x").view({"b"}, "app=y").text() == "a[app=x;] b | b");
}

TEST_CASE("Watch plan: a watch of all namespaces serves those of some") {
    CHECK(Plan().view({"a"}, "").view({}, "").text() == "* | *");
    CHECK(Plan().view({"a"}, "app=x").view({"b"}, "").view({}, "").text() == "* | * | *");
    CHECK(Plan().view({"a"}, "app=x").view({}, "app=x").text() == "*[app=x;] | *[app=x;]");
    SECTION("but not for their sake alone") {
        CHECK(Plan().view({"a"}, "").view({}, "app=x").text() == "a | *[app=x;]");
        CHECK(Plan().view({"a"}, "").view({"b"}, "").text() == "a | b");
    }
    SECTION("once selections share it") {
        CHECK(Plan().view({"a"}, "").view({}, "app=x").view({}, "app=y").text() == "* | * | *");
    }
    SECTION("of many namespaces that are watched together") {
        Plan plan;
        plan.cluster_wide_from = 2;
        CHECK(plan.view({"a", "b"}, "").view({"c"}, "").text() == "* | *");
    }
}

TEST_CASE("Watch plan: a kind without namespaces has one watch") {
    Plan plan;
    plan.kind = Kind::node;
    CHECK(plan.view({"a"}, "x=1").text() == "*[x=1;]");
    CHECK(plan.view({}, "x=2").text() == "* | *");
    CHECK(plan.refuse("").text() == "*[x=1;] | *[x=2;]");
}

TEST_CASE("Watch plan: what is not selected here keeps its own watch") {
    CHECK(Plan().view({}, "", "spec.nodeName=n", false).view({}, "").text() ==
          "*[;spec.nodeName=n] | *");
    CHECK(Plan().view({"a"}, "app=x", "", false).view({"a"}, "app=y").text() ==
          "a[app=x;] | a[app=y;]");
}

TEST_CASE("Watch plan: a share that the server is asked for has a watch of its own") {
    CHECK(Plan().view({}, "", "", false).share(half).view({}, "").text() == "*/half | *");
    CHECK(Plan().view({"a"}, "app=x", "", false).share(half).text() == "a[app=x;]/half");
    CHECK(Plan().view({}, "app=x", "", false).share(half).view({}, "app=x").text() ==
          "*[app=x;]/half | *[app=x;]");
}

TEST_CASE("Watch plan: nothing is shared where the host says so") {
    Plan plan;
    plan.sharing = SelectorSharing::never;
    CHECK(plan.view({}, "app=x").view({}, "").view({"a"}, "").text() == "*[app=x;] | * | a");
    plan.cluster_wide_from = 1;
    CHECK(plan.text() == "*[app=x;] | * | *");
    CHECK(plan.refuse("").text() == "*[app=x;] | * | a");
}

TEST_CASE("Watch plan: one selection is enough where the host says so") {
    Plan plan;
    plan.sharing = SelectorSharing::always;
    CHECK(plan.view({}, "app=x").text() == "*");
    CHECK(plan.view({"a"}, "app=y").text() == "* | *");
    CHECK(plan.refuse("").text() == "*[app=x;] | a");
    CHECK(plan.refuse("a").text() == "*[app=x;] | a[app=y;]");
}

TEST_CASE("Watch plan: what was refused is not asked for again") {
    SECTION("a watch without the selectors") {
        CHECK(Plan().refuse("").view({}, "app=x").view({}, "app=y").text() ==
              "*[app=x;] | *[app=y;]");
        CHECK(Plan().refuse("a").view({"a"}, "app=x").view({"a"}, "app=y").text() ==
              "a[app=x;] | a[app=y;]");
    }
    SECTION("one of all namespaces: those of some share what they have") {
        Plan plan = Plan().refuse("").view({"a"}, "app=x").view({"a"}, "app=y").view({}, "");
        CHECK(plan.text() == "a | a | *");
        CHECK(plan.refuse("a").text() == "a[app=x;] | a[app=y;] | *");
    }
    SECTION("many namespaces together") {
        Plan plan = Plan().view({"a", "b"}, "app=x");
        plan.cluster_wide_from = 2;
        CHECK(plan.text() == "*[app=x;]");
        CHECK(plan.refuse("", "app=x").text() == "a[app=x;] b[app=x;]");
    }
    SECTION("the exact need of a view is asked for all the same") {
        CHECK(Plan().refuse("").view({}, "").text() == "*");
        CHECK(Plan().refuse("a").view({"a"}, "").text() == "a");
    }
}

TEST_CASE("Watch plan: a refusal ends, and is forgotten with all others") {
    using std::chrono::hours, std::chrono::minutes;
    const TimePoint begin(hours(1));
    const WatchQuery all{Kind::pod, {}, {}, {}};
    const WatchQuery one{Kind::pod, "a", {}, {}};
    RefusedWatches refused;
    CHECK_FALSE(refused.next_expiry());
    refused.add(all, begin, hours(2));
    refused.add(one, begin + minutes(1), hours(1));
    CHECK(refused.next_expiry() == begin + minutes(61));
    refused.expire(begin + minutes(60));
    CHECK(refused.has(one));
    refused.expire(begin + minutes(61));
    CHECK_FALSE(refused.has(one));
    CHECK(refused.all_namespaces());
    refused.shorten(hours(3));
    CHECK(refused.next_expiry() == begin + hours(2));
    refused.shorten(minutes(1));
    CHECK(refused.next_expiry() == begin + minutes(1));
    refused.add(all, begin + minutes(30), hours(1));
    CHECK(refused.next_expiry() == begin + minutes(90));
    refused.clear();
    CHECK(refused.empty());
    CHECK_FALSE(refused.all_namespaces());
}
