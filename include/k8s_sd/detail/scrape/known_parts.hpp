#pragma once

#include "k8s_sd/detail/relabel/relabel_rule.hpp"
#include "k8s_sd/detail/scrape/scrape_entry.hpp"
#include "k8s_sd/scrape/scrape_config_yaml.hpp"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// A bounded table, without those parts that have not been used for the longest time.
template <class Part>
class RecentParts {
 public:
    explicit RecentParts(std::size_t max) : max_(max) {}

    /// \returns null if there is none
    template <class IsEqual>
    const Part* find(std::size_t hash, const IsEqual& is_equal) {
        if (const auto found = recent_.find(hash); found != recent_.end()) {
            return is_equal(found->second) ? &found->second : nullptr;
        }
        const auto found = earlier_.find(hash);
        if (found == earlier_.end() || !is_equal(found->second)) return nullptr;
        Part part = std::move(found->second);
        earlier_.erase(found);
        return &add(hash, std::move(part));
    }
    /// Replaces a part with the same hash.
    const Part& add(std::size_t hash, Part part) {
        if (recent_.size() >= max_) {
            earlier_ = std::move(recent_);
            recent_ = {};
        }
        return recent_.insert_or_assign(hash, std::move(part)).first->second;
    }
    void clear() noexcept {
        recent_.clear();
        earlier_.clear();
    }

 private:
    std::size_t max_;  ///< of each table
    boost::unordered_flat_map<std::size_t, Part> recent_;
    boost::unordered_flat_map<std::size_t, Part> earlier_;
};

/// The forms in which jobs use parts, by the parts as they are read: shared ones. Bounded.
template <class Read, class Made>
class MadeParts {
 public:
    using ReadPtr = std::shared_ptr<const Read>;
    using MadePtr = std::shared_ptr<const Made>;

    explicit MadeParts(std::size_t max) : parts_(max) {}

    /// \returns null if it is not known
    MadePtr find(const ReadPtr& read) {
        const Part* const known =
            parts_.find(hash(read), [&](const Part& candidate) { return candidate.read == read; });
        return known ? known->made : nullptr;
    }
    void add(const ReadPtr& read, const MadePtr& made) { parts_.add(hash(read), {read, made}); }
    void clear() noexcept { parts_.clear(); }

 private:
    /// The pointer to what is read keeps its address from being used again.
    struct Part {
        ReadPtr read{};
        MadePtr made{};
    };
    static std::size_t hash(const ReadPtr& read) { return std::hash<const Read*>()(read.get()); }

    RecentParts<Part> parts_;
};

/// Whether it is small enough to be kept for later jobs.
bool is_small(const SharedRule&);

/// Reads the form that operators generate: texts and numbers. The rule is not validated.
/// \returns nullopt for any other form, even a valid one
std::optional<RelabelRule> plain_rule(const boost::json::value&);

/// Keys of the client of a job, unless all jobs may share their value.
bool is_of_client(std::string_view key);

/// The keys of an entry that other entries repeat, in their order: no name, rules, parameters or
/// credentials.
boost::json::object common_settings(const boost::json::object& keys);

/// Parts of earlier jobs with their meaning: a thousand monitors repeat nearly all of them.
/// Bounded, and without secrets. Not thread-safe.
class KnownParts {
 public:
    /// With the rule that was read.
    /// \param names  of the job with the rule
    /// \returns null if it is not known
    SharedRulePtr rule(const RuleText&, NameValidation names);
    void add(const RuleTextPtr&, NameValidation names, const SharedRulePtr&);

    /// The job that the common_settings() of an entry make. \returns null if it is not known
    const ScrapeJob* job(const boost::json::object& keys);
    /// \param settings  see common_settings()
    void add(boost::json::object settings, ScrapeJob);

 private:
    struct Rule {
        RuleTextPtr text{};
        NameValidation names{};
        SharedRulePtr compiled{};
    };
    struct Settings {
        boost::json::object text{};
        ScrapeJob job{};
    };
    static constexpr std::size_t max_rules = 128;
    static constexpr std::size_t max_jobs = 64;

    RecentParts<Rule> rules_{max_rules};    ///< by the hash of the text
    RecentParts<Settings> jobs_{max_jobs};  ///< the same
};

}  // namespace k8s_sd::inline v0::detail
