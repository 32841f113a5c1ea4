#include "lists/list_selection.hpp"

#include "cli/option_values.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/fleet/fleet_view.hpp"
#include "k8s_sd/scrape/sharding.hpp"

#include <functional>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace k8s_sd_program {

namespace {

constexpr unsigned max_shards = 4096;
/// Each replica costs as much as the list.
constexpr unsigned max_replicas = 4;

std::string node_part(const std::string& node) { return "node " + node; }
std::string collector_part(std::string_view name) { return "collector " + std::string(name); }
/// The part of targets without a collector.
constexpr const char* unassigned_part = "unassigned";
std::string shard_part(std::string_view number) { return "shard " + std::string(number); }

/// The parameters of a query before they are combined.
struct Given {
    std::optional<unsigned> shard;  ///< also of `member`
    std::optional<unsigned> shards;
    std::optional<unsigned> replicas;
    std::optional<std::string> node;
    bool rest = false;
    bool urls = false;
    MetaNames meta{};       ///< of a list as discovered
    MetaNames keep_meta{};  ///< of a relabelled list
    bool hold = false;
};

using Read = std::function<void(Given&, const std::string&)>;
struct Parameter {
    std::string_view name;
    Read read;
};

void read_number(std::optional<unsigned>& number, const std::string& text, unsigned min,
                 unsigned max, const char* allowed) {
    number = cli::number(text, min, max, allowed);
}

void refuse_second_shard(const Given& given) {
    if (given.shard) throw cli::UsageError("shard and member both say which shard");
}

void read_shard(Given& given, const std::string& text) {
    refuse_second_shard(given);
    read_number(given.shard, text, 0, max_shards - 1, "a number from 0 to 4095");
}

void read_member(Given& given, const std::string& text) {
    refuse_second_shard(given);
    try {
        given.shard = k8s_sd::parse_shard_member(text);
    } catch (const k8s_sd::ConfigError& e) {
        throw cli::UsageError(e.problem());
    }
}

void require(const std::string& text, std::string_view allowed) {
    if (text != allowed) {
        throw cli::UsageError("\"" + text + "\" is not allowed; allowed is " +
                              std::string(allowed));
    }
}

const std::vector<Parameter>& parameters() {
    static const std::vector<Parameter> all{
        {"shard", read_shard},
        {"member", read_member},
        {"shards",
         [](Given& g, const auto& v) {
             read_number(g.shards, v, 1, max_shards, "a number from 1 to 4096");
         }},
        {"replicas",
         [](Given& g, const auto& v) {
             read_number(g.replicas, v, 1, max_replicas, "a number from 1 to 4");
         }},
        {"node",
         [](Given& g, const auto& v) {
             if (v.empty()) throw cli::UsageError("must be the name of a node");
             g.node = v;
         }},
        {"rest",
         [](Given& g, const auto& v) {
             require(v, "rendezvous");
             g.rest = true;
         }},
        {"form",
         [](Given& g, const auto& v) {
             require(v, "urls");
             g.urls = true;
         }},
        {"meta", [](Given& g, const auto& v) { g.meta = MetaNames(v); }},
        {"keep_meta", [](Given& g, const auto& v) { g.keep_meta = MetaNames(v); }},
        {"hold", [](Given& g, const auto& v) {
             require(v, "1");
             g.hold = true;
         }}};
    return all;
}

const Parameter& parameter_of(const std::string& name) {
    std::vector<std::string_view> names;
    for (const Parameter& parameter : parameters()) {
        if (parameter.name == name) return parameter;
        names.push_back(parameter.name);
    }
    throw BadRequest("there is no parameter " + name + "; there are " + cli::listed(names));
}

Given read(const http::Query& query) {
    Given given;
    std::set<std::string_view> seen;
    for (const auto& [name, value] : query) {
        const Parameter& parameter = parameter_of(name);
        if (!seen.insert(name).second) throw BadRequest(name + " is there twice");
        try {
            parameter.read(given, value);
        } catch (const cli::UsageError& e) {
            throw BadRequest(name + ": " + e.what());
        }
    }
    return given;
}

void check(const Given& given) {
    if (given.shard.has_value() != given.shards.has_value()) {
        throw BadRequest("shards and one of shard and member belong together, as in "
                         "shard=2&shards=8 or member=agent-2&shards=8");
    }
    if (given.shard && *given.shard >= *given.shards) {
        throw BadRequest("there is no shard " + std::to_string(*given.shard) + " of " +
                         std::to_string(*given.shards) + "; the first is 0");
    }
    if (given.replicas && !given.shards) throw BadRequest("replicas needs shards");
    if (given.replicas && *given.replicas > *given.shards) {
        throw BadRequest("there cannot be more replicas than shards");
    }
    if (given.rest && !(given.node && given.shards)) {
        throw BadRequest("rest=rendezvous divides the targets without a node: it needs node, "
                         "shards and one of shard and member");
    }
    if (given.node && given.shards && !given.rest) {
        throw BadRequest("node and shards: with rest=rendezvous the shards are of the targets "
                         "without a node");
    }
}

ListContent content_of(const Given& given, ListForm form) {
    if (form == ListForm::discovered) {
        if (given.urls) throw BadRequest("form=urls: is a form of the relabelled list");
        if (!given.keep_meta.empty()) {
            throw BadRequest("keep_meta: is for the relabelled list, which has no __meta_ labels "
                             "else; meta chooses those of the list as discovered");
        }
        return {form, given.meta};
    }
    if (!given.meta.empty()) {
        throw BadRequest("meta: is for the list as discovered; keep_meta adds __meta_ labels to "
                         "the relabelled list");
    }
    if (given.urls && !given.keep_meta.empty()) {
        throw BadRequest("form=urls and keep_meta: the form of URLs has labels of the series only");
    }
    return {given.urls ? ListForm::urls : form, given.keep_meta};
}

}  // namespace

Divider::Divider(const ListDivision& division) : division_(division) {
    if (division.shards == 0) return;
    std::vector<std::string> numbers;
    for (unsigned i = 0; i < division.shards; ++i) numbers.push_back(std::to_string(i));
    shards_ = std::make_shared<k8s_sd::FleetView>(std::move(numbers));
}

std::vector<std::string> Divider::parts_of(const ListedTarget& target) const {
    std::vector<std::string> parts;
    if (division_.collectors) {
        for (const std::string_view name : division_.collectors->owners(target))
            parts.push_back(collector_part(name));
        if (parts.empty()) parts.emplace_back(unassigned_part);
    } else if (division_.by_node && !target.node.empty()) {
        parts.push_back(node_part(target.node));
    } else if (!shards_) {
        if (!division_.by_node) parts.emplace_back();
    } else if (target.share_key) {
        for (const std::string_view shard : shards_->owners(*target.share_key, division_.replicas))
            parts.push_back(shard_part(shard));
    } else {
        for (const std::string& shard : shards_->members()) parts.push_back(shard_part(shard));
    }
    return parts;
}

std::vector<std::string> ListSelection::parts() const {
    std::vector<std::string> parts;
    if (division.collectors && unassigned) return {unassigned_part};
    if (division.collectors) return {collector_part(collector)};
    if (division.by_node) parts.push_back(node_part(node));
    if (division.shards != 0) parts.push_back(shard_part(std::to_string(shard)));
    if (parts.empty()) parts.emplace_back();
    return parts;
}

ListQuery read_list_query(const http::Query& query, ListForm form) {
    const Given given = read(query);
    check(given);
    ListQuery result;
    result.content = content_of(given, form);
    result.hold = given.hold;
    result.selection.division = {given.shards.value_or(0), given.replicas.value_or(1),
                                 given.node.has_value()};
    result.selection.shard = given.shard.value_or(0);
    result.selection.node = given.node.value_or("");
    return result;
}

}  // namespace k8s_sd_program
