#include "collectors/all_targets.hpp"

#include "cli/json_text.hpp"
#include "http/http_message.hpp"

#include <utility>

namespace k8s_sd_program {

namespace {

std::string joined(const std::string& job, const std::vector<Collector>& members,
                   const std::vector<ListBodyPtr>& lists) {
    std::string out = "{";
    for (std::size_t i = 0; i < lists.size(); ++i) {
        const std::string& name = members[i].name;
        if (i > 0) out += ",\n";
        cli::append_json(out, name);
        out += R"(:{"_link":)";
        cli::append_json(out,
                         "/debug" + link_of(job) + "?collector_id=" + http::query_escaped(name));
        out += R"(,"targets":)" + *lists[i]->bytes() + '}';
    }
    return out + "}\n";
}

}  // namespace

std::string link_of(std::string_view job) {
    return "/jobs/" + http::query_escaped(job) + "/targets";
}

ListBodyPtr AllTargets::body(const std::string& job, const AllocationView& view,
                             const std::vector<ListBodyPtr>& lists) {
    const std::vector<Collector>& members = view.present().members();
    std::string key = link_of(job);
    for (std::size_t i = 0; i < lists.size(); ++i) {
        key += ' ' + http::query_escaped(members[i].name) + ' ' + lists[i]->tag();
    }
    const std::scoped_lock lock(mutex_);
    std::erase_if(bodies_, [](const auto& entry) { return entry.second.expired(); });
    const auto known = bodies_.find(key);
    // The last reader may release it at any time.
    if (known != bodies_.end()) {
        if (ListBodyPtr body = known->second.lock()) return body;
    } else if (bodies_.size() >= max_bodies) {
        return nullptr;
    }
    auto body = std::make_shared<const ListBody>(joined(job, members, lists));
    bodies_.insert_or_assign(std::move(key), body);
    return body;
}

}  // namespace k8s_sd_program
