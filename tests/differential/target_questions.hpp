#pragma once

#include "differential/generator.hpp"
#include "k8s_sd/role.hpp"
#include "k8s_sd/scrape/sharding.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <string>

namespace k8s_sd::test {

/// Makes jobs and targets for Prometheus or vmagent, in the form of ask_peer.py: {"name", "job",
/// "targets"}. The same seed makes the same ones. Many are odd on purpose: invalid addresses, paths
/// that need encoding, rules that cannot work. Excluded are:
/// * line breaks in values: in vmagent `.` matches them or not, depending on its matching strategy;
/// * intervals of 0 or less for vmagent, which exits at the first.
class TargetQuestions : RelabelGenerator {
 public:
    TargetQuestions(LabelDialect dialect, std::uint64_t seed)
        : RelabelGenerator(seed), vmagent_(dialect == LabelDialect::victoriametrics) {}

    boost::json::object next();

 private:
    boost::json::object job();
    boost::json::array rules();
    boost::json::object odd_rule();
    boost::json::object steering_rule();
    boost::json::object vmagent_rule();
    boost::json::object target(std::size_t number);
    std::string selector();
    std::string address(std::size_t number);
    std::string path();
    std::string odd_name();
    std::string odd_regex();

    bool vmagent_;
    std::size_t count_ = 0;
};

/// The answer of k8s_sd to a question, in the form of ask_peer.py's answers. Unlike there, a target
/// that equals another one has its own entry.
boost::json::value answer_of_k8s_sd(LabelDialect, const Sharding&,
                                    const boost::json::object& question);

/// Compares two answers. Empty: they are equal, or differ in a documented way; `reason` then names
/// it.
std::string difference(LabelDialect, const boost::json::object& question,
                       const boost::json::value& ours, const boost::json::value& theirs,
                       std::string& reason);

}  // namespace k8s_sd::test
