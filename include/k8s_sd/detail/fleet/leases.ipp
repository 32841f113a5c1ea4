#include "k8s_sd/detail/base/backoff.hpp"
#include "k8s_sd/detail/client/api_documents.hpp"
#include "k8s_sd/detail/fleet/leases.hpp"
#include "k8s_sd/detail/text/json_text.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <algorithm>
#include <cstdio>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

namespace json = boost::json;

/// Kubernetes' MicroTime: "2026-01-02T03:04:05.678901Z".
std::string micro_time(std::chrono::system_clock::time_point time) {
    using namespace std::chrono;
    const auto day = floor<days>(time);
    const year_month_day date(day);
    const hh_mm_ss clock(floor<microseconds>(time - day));
    char text[64];
    std::snprintf(
        text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d.%06dZ", static_cast<int>(date.year()),
        static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
        static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
        static_cast<int>(clock.seconds().count()), static_cast<int>(clock.subseconds().count()));
    return text;
}

const json::object* object_in(const json::object& object, std::string_view name) {
    const json::value* value = object.if_contains(name);
    return value ? value->if_object() : nullptr;
}

MemberState state_of(std::optional<std::string_view> annotation) {
    if (annotation == to_string(MemberState::joining)) return MemberState::joining;
    if (annotation == to_string(MemberState::leaving)) return MemberState::leaving;
    return MemberState::active;
}

}  // namespace

// The name of a fleet contains no dot.
std::string lease_name(const LeaseRecord& record) { return record.fleet + "." + record.member; }

std::string lease_text(const LeaseRecord& record, std::string_view version,
                       std::chrono::system_clock::time_point renewed) {
    json::object metadata{{"name", lease_name(record)},
                          {"namespace", record.ns},
                          {"labels", {{fleet_label, record.fleet}}},
                          {"annotations", {{member_state_annotation, to_string(record.state)}}}};
    if (!version.empty()) metadata["resourceVersion"] = version;
    if (!record.pod_uid.empty()) {
        metadata["ownerReferences"] = json::array{json::object{{"apiVersion", "v1"},
                                                               {"kind", "Pod"},
                                                               {"name", record.member},
                                                               {"uid", record.pod_uid}}};
    }
    // The server accepts only whole seconds above 0.
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(record.duration).count();
    return json::serialize(
        json::object{{"apiVersion", "coordination.k8s.io/v1"},
                     {"kind", "Lease"},
                     {"metadata", std::move(metadata)},
                     {"spec",
                      {{"holderIdentity", record.member},
                       {"leaseDurationSeconds", std::max<std::int64_t>(seconds, 1)},
                       {"renewTime", micro_time(renewed)}}}});
}

LeaseAnswer read_lease_answer(std::string_view body) {
    boost::system::error_code ec;
    const json::value document = json::parse(body, ec);
    const json::object* object = ec ? nullptr : document.if_object();
    if (!object) return {};
    if (json_text(*object, "kind") != "Lease") return {{}, read_status_message(body)};
    const json::object* metadata = object_in(*object, "metadata");
    return {metadata ? std::string(json_text(*metadata, "resourceVersion")) : std::string(), {}};
}

LeaseSight read_lease(const Generic& lease) {
    LeaseSight sight;
    sight.state = state_of(lease.metadata.annotations.find(member_state_annotation));
    const json::object* spec = object_in(lease.content, "spec");
    if (!spec) return sight;
    sight.member = json_text(*spec, "holderIdentity");
    sight.renewed = json_text(*spec, "renewTime");
    const json::value* seconds = spec->if_contains("leaseDurationSeconds");
    if (seconds && seconds->is_int64()) {
        // Upper bound for a member without renewals.
        constexpr std::int64_t max_seconds = 3600;
        sight.duration =
            std::chrono::seconds(std::clamp<std::int64_t>(seconds->get_int64(), 0, max_seconds));
    }
    return sight;
}

void LeaseSights::put(const std::string& name, LeaseSight sight, bool is_news, TimePoint now) {
    const bool proven = is_news || sight.member == self_;
    seen_.insert_or_assign(name, Seen{std::move(sight), now, proven});
}

TimePoint LeaseSights::end_of(const Seen& seen) noexcept {
    return due_after(seen.changed, seen.sight.duration);
}

bool LeaseSights::is_alive(const Seen& seen, TimePoint now) noexcept {
    return !seen.expired && !seen.sight.member.empty() && now < end_of(seen);
}

bool LeaseSights::sees_itself(TimePoint now) const {
    return std::any_of(seen_.begin(), seen_.end(), [&](const auto& lease) {
        return lease.second.sight.member == self_ && is_alive(lease.second, now);
    });
}

bool LeaseSights::is_whole(TimePoint now) const {
    return std::all_of(seen_.begin(), seen_.end(), [&](const auto& lease) {
        return lease.second.proven || !is_alive(lease.second, now);
    });
}

void LeaseSights::expire(TimePoint now) {
    for (auto& [name, seen] : seen_) seen.expired = !is_alive(seen, now);
}

void LeaseSights::begin_again(TimePoint now) {
    for (auto& [name, seen] : seen_) {
        if (!seen.expired) seen.changed = now;
    }
}

std::vector<FleetMember> LeaseSights::members(TimePoint now) const {
    std::vector<FleetMember> members;
    for (const auto& [name, seen] : seen_) {
        if (is_alive(seen, now)) members.push_back({seen.sight.member, seen.sight.state});
    }
    return members;
}

std::optional<TimePoint> LeaseSights::next_expiry(TimePoint now) const {
    std::optional<TimePoint> next;
    for (const auto& [name, seen] : seen_) {
        const TimePoint end = end_of(seen);
        if (!seen.expired && end > now && (!next || end < *next)) next = end;
    }
    return next;
}

}  // namespace k8s_sd::inline v0::detail
