#include "k8s_sd/detail/async/operation.hpp"
#include "k8s_sd/detail/labels/label_block.hpp"
#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/fleet/member_source.hpp"

#include <boost/asio/post.hpp>
#include <utility>

namespace k8s_sd::inline v0 {

namespace {

class StaticMembers final : public MemberSource {
 public:
    StaticMembers(asio::any_io_executor executor, std::vector<std::string> names)
        : executor_(std::move(executor)) {
        sighting_.in_sight = true;
        for (std::string& name : names) {
            sighting_.members.push_back({std::move(name), MemberState::active});
        }
    }
    void start(Callback callback) override {
        asio::post(executor_,
                   [callback = std::move(callback), sighting = sighting_] { callback(sighting); });
    }
    void stop() noexcept override {}
    std::string identity() const override {
        std::string text;
        for (const FleetMember& member : sighting_.members) {
            detail::pack_value(text, member.name);
        }
        return text;
    }

 private:
    const asio::any_io_executor executor_;
    FleetSighting sighting_;
};

}  // namespace

std::shared_ptr<MemberSource> static_members(asio::any_io_executor executor,
                                             std::vector<std::string> names) {
    detail::check_host_executor(executor, "static_members");
    if (names.empty()) throw ConfigError("members", "name at least one member");
    return std::make_shared<StaticMembers>(std::move(executor), std::move(names));
}

std::vector<std::string> ordinal_members(std::string_view self, unsigned members, unsigned first) {
    const auto number = detail::trailing_number(self);
    if (!number) {
        throw ConfigError("self", "must be a number or end in one, like the pods of a StatefulSet: "
                                  "agent-3");
    }
    if (*number < first || *number - first >= members) {
        throw ConfigError("self", "is not one of " + std::to_string(members) +
                                      " members, numbered from " + std::to_string(first));
    }
    const std::string prefix(self.substr(0, self.size() - detail::last_part(self).size()));
    std::vector<std::string> names;
    for (unsigned i = 0; i < members; ++i) names.push_back(prefix + std::to_string(first + i));
    return names;
}

}  // namespace k8s_sd::inline v0
