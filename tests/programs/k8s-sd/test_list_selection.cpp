#include "k8s_sd/fleet/fleet_view.hpp"
#include "lists/list_selection.hpp"

#include <catch2/catch_test_macros.hpp>
#include <algorithm>
#include <map>
#include <string>
#include <vector>

using k8s_sd_program::BadRequest;
using k8s_sd_program::Divider;
using k8s_sd_program::ListContent;
using k8s_sd_program::ListDivision;
using k8s_sd_program::ListedTarget;
using k8s_sd_program::ListForm;
using k8s_sd_program::ListSelection;
using k8s_sd_program::MetaNames;
using k8s_sd_program::read_list_query;

namespace {

k8s_sd_program::ListQuery asked(const std::string& query, ListForm form = ListForm::relabelled) {
    return read_list_query(http::parse_query(query).value(), form);
}

std::string selection_error(const std::string& query, ListForm form = ListForm::relabelled) {
    try {
        asked(query, form);
    } catch (const BadRequest& e) {
        return e.what();
    }
    return "";
}

ListedTarget target_of_key(std::uint64_t key, std::string node = "") {
    ListedTarget target;
    target.share_key = key;
    target.node = std::move(node);
    return target;
}

bool selects(const ListSelection& selection, const ListedTarget& target) {
    const auto parts = Divider(selection.division).parts_of(target);
    const auto wanted = selection.parts();
    return std::any_of(parts.begin(), parts.end(), [&](const std::string& part) {
        return std::find(wanted.begin(), wanted.end(), part) != wanted.end();
    });
}

}  // namespace

TEST_CASE("read_list_query: nothing is everything") {
    CHECK(asked("").selection == ListSelection{});
    CHECK(asked("").content == ListContent{ListForm::relabelled});
    CHECK(asked("", ListForm::discovered).content == ListContent{ListForm::discovered});
}

TEST_CASE("read_list_query: a reader chooses the form and the labels") {
    CHECK(asked("form=urls").content == ListContent{ListForm::urls});
    CHECK(asked("keep_meta=otel").content == ListContent{ListForm::relabelled, MetaNames("otel")});
    CHECK(asked("meta=__meta_*", ListForm::discovered).content ==
          ListContent{ListForm::discovered, MetaNames("__meta_*")});
    CHECK(selection_error("form=urls", ListForm::discovered) ==
          "form=urls: is a form of the relabelled list");
    CHECK(selection_error("keep_meta=otel", ListForm::discovered).find("meta chooses those of") !=
          std::string::npos);
    CHECK(selection_error("meta=otel").find("keep_meta adds") != std::string::npos);
    CHECK(selection_error("form=urls&keep_meta=otel").find("labels of the series only") !=
          std::string::npos);
    CHECK(selection_error("keep_meta=pod").starts_with("keep_meta: \"pod\" is not allowed"));
}

TEST_CASE("read_list_query: a member is the shard of its number") {
    const ListSelection third{{8, 1, false}, 2, ""};
    CHECK(asked("shard=2&shards=8").selection == third);
    CHECK(asked("member=agent-2&shards=8").selection == third);
    CHECK(asked("shards=8&member=prometheus-k8s-2").selection == third);
    CHECK(asked("member=agent-2&shards=8&replicas=2").selection ==
          ListSelection{{8, 2, false}, 2, ""});
    CHECK(asked("node=node-a1").selection == ListSelection{{0, 1, true}, 0, "node-a1"});
    CHECK(asked("node=n&rest=rendezvous&shard=1&shards=3").selection ==
          ListSelection{{3, 1, true}, 1, "n"});
}

TEST_CASE("read_list_query: says what is wrong") {
    const std::map<std::string, std::string> table{
        {"shard=1", "shards and one of shard and member belong together"},
        {"shards=2", "shards and one of shard and member belong together"},
        {"shard=2&shards=2", "there is no shard 2 of 2; the first is 0"},
        {"member=agent-9&shards=2", "there is no shard 9 of 2"},
        {"member=agent&shards=2", "member: "},
        {"shard=x&shards=2", "shard: \"x\" is not allowed; allowed is a number from 0 to 4095"},
        {"shard=0&shards=0", "shards: \"0\" is not allowed"},
        {"shard=0&shards=5000", "shards: \"5000\" is not allowed; allowed is a number from 1 to"},
        {"shard=0&member=a-0&shards=2", "both say which shard"},
        {"shard=0&shard=1&shards=2", "shard is there twice"},
        {"shard=0&shards=2&replicas=3", "there cannot be more replicas than shards"},
        {"replicas=2", "replicas needs shards"},
        {"shard=0&shards=9&replicas=5",
         "replicas: \"5\" is not allowed; allowed is a number from 1 "
         "to 4"},
        {"node=", "node: must be the name of a node"},
        {"rest=rendezvous&node=n", "rest=rendezvous divides the targets without a node"},
        {"rest=other&node=n&shard=0&shards=1", "rest: \"other\" is not allowed"},
        {"node=n&shard=0&shards=2", "node and shards: with rest=rendezvous"},
        {"form=xml", "form: \"xml\" is not allowed; allowed is urls"},
        {"rule=modulo", "there is no parameter rule; there are shard, member, shards, replicas"},
    };
    for (const auto& [query, message] : table) {
        CAPTURE(query, selection_error(query));
        CHECK(selection_error(query).find(message) != std::string::npos);
    }
}

TEST_CASE("Divider: each target is in as many shards as there are replicas") {
    for (const unsigned replicas : {1U, 2U, 4U}) {
        std::map<std::string, int> load;
        const Divider divider(ListDivision{5, replicas, false});
        for (std::uint64_t key = 0; key < 2000; ++key) {
            const auto parts =
                divider.parts_of(target_of_key(k8s_sd::share_key("job", std::to_string(key))));
            CHECK(parts.size() == replicas);
            for (const std::string& part : parts) ++load[part];
        }
        CHECK(load.size() == 5);
        for (const auto& [part, count] : load) CHECK(std::abs(count - int(400 * replicas)) < 120);
    }
}

TEST_CASE("Divider: one more shard moves targets to that shard only") {
    const Divider before(ListDivision{4, 1, false});
    const Divider after(ListDivision{5, 1, false});
    int moved = 0;
    for (std::uint64_t i = 0; i < 1000; ++i) {
        const auto target = target_of_key(k8s_sd::share_key("job", std::to_string(i)));
        if (before.parts_of(target) == after.parts_of(target)) continue;
        CHECK(after.parts_of(target) == std::vector<std::string>{"shard 4"});
        ++moved;
    }
    CHECK(std::abs(moved - 200) < 60);
}

TEST_CASE("Divider: a target without a key is on every shard") {
    CHECK(Divider(ListDivision{3, 1, false}).parts_of(ListedTarget{}).size() == 3);
}

TEST_CASE("Divider: by nodes, the rest by shards") {
    const auto on_node = target_of_key(1, "n");
    const auto elsewhere = target_of_key(2, "m");
    const auto nowhere = target_of_key(3);
    const ListSelection node{{0, 1, true}, 0, "n"};
    CHECK(selects(node, on_node));
    CHECK_FALSE(selects(node, elsewhere));
    CHECK_FALSE(selects(node, nowhere));
    int owners = 0;
    for (unsigned shard = 0; shard < 3; ++shard) {
        const ListSelection with_rest{{3, 1, true}, shard, "n"};
        CHECK(selects(with_rest, on_node));
        CHECK_FALSE(selects(with_rest, elsewhere));
        owners += selects(with_rest, nowhere) ? 1 : 0;
    }
    CHECK(owners == 1);
}
