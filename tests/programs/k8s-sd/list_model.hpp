#pragma once

#include "json_parts.hpp"
#include "lists/list_body.hpp"

#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace k8s_sd_program::test {

/// The state of a reader of lists and their changes: addresses with their labels.
class ListModel {
 public:
    /// \param groups  a list, as http_sd has it
    void replace(std::string_view groups) {
        targets_.clear();
        add(groups);
    }
    void add(std::string_view groups) {
        for_each(groups, [this](auto target) {
            if (!targets_.insert(std::move(target)).second) wrong_ += "added what is there; ";
        });
    }
    void remove(std::string_view groups) {
        for_each(groups, [this](const auto& target) {
            if (targets_.erase(target) == 0) wrong_ += "removed what is not there; ";
        });
    }

    /// Whether there is a target at this address, or at a URL of it.
    bool has(std::string_view address) const {
        for (const auto& [labels, target] : targets_) {
            if (target.find(address) != std::string::npos) return true;
        }
        return false;
    }
    /// The list with these targets.
    std::string bytes() const {
        std::string text = "[";
        const std::string* last = nullptr;
        for (const auto& [labels, target] : targets_) {
            if (last && *last == labels) {
                text += ',' + target;
            } else {
                if (last) text += "],\"labels\":" + *last + "},";
                text += "\n{\"targets\":[" + target;
            }
            last = &labels;
        }
        return last ? text + "],\"labels\":" + *last + "}\n]\n" : "[]\n";
    }
    std::string version() const {
        const ListBody body(bytes());
        return body.tag().substr(1, body.tag().size() - 2);
    }
    /// The first inconsistency delivered to the reader; empty: none.
    std::string take_wrong() { return std::exchange(wrong_, {}); }

 private:
    using Target = std::pair<std::string, std::string>;  ///< labels, address

    template <class Function>
    static void for_each(std::string_view groups, Function function) {
        for (const std::string_view group : JsonParts::elements(groups)) {
            const auto members = JsonParts::members(group);
            const std::string labels(members.at("labels"));
            for (const std::string_view target : JsonParts::elements(members.at("targets"))) {
                function(Target(labels, target));
            }
        }
    }

    std::set<Target> targets_;
    std::string wrong_;
};

}  // namespace k8s_sd_program::test
