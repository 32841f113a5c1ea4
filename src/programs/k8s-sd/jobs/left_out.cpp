#include "jobs/left_out.hpp"

#include <algorithm>

namespace k8s_sd_program {

namespace {

constexpr const char* unnamed_part = "a part of the configuration is left out: ";

std::string with_job(std::string_view name, const std::string& mistake) {
    return "job " + std::string(name) + " is left out: " + mistake;
}

}  // namespace

LeftOut::LeftOut(const std::vector<k8s_sd::ScrapeConfigFailure>& failures) {
    for (const k8s_sd::ScrapeConfigFailure& failure : failures) {
        std::string& mistakes = failure.job.empty() ? unnamed_ : jobs_[failure.job];
        if (!mistakes.empty()) mistakes += '\n';
        mistakes += failure.where + ": " + failure.message;
    }
}

std::set<std::string> LeftOut::names() const {
    std::set<std::string> names;
    for (const auto& [job, mistakes] : jobs_) names.insert(job);
    return names;
}

std::optional<std::string> LeftOut::why(std::string_view job) const {
    const auto it = jobs_.find(job);
    if (it != jobs_.end()) return with_job(job, it->second);
    if (unnamed_.empty()) return std::nullopt;
    return "there is no job " + std::string(job) + ", but " + unnamed_part + unnamed_;
}

std::string LeftOut::lines() const {
    std::string text;
    const auto add = [&](const std::string& what, std::string_view mistakes) {
        while (!mistakes.empty()) {
            const std::string_view line = mistakes.substr(0, mistakes.find('\n'));
            text += what;
            (text += line) += '\n';
            mistakes.remove_prefix(std::min(line.size() + 1, mistakes.size()));
        }
    };
    add(unnamed_part, unnamed_);
    for (const auto& [job, mistakes] : jobs_) add(with_job(job, {}), mistakes);
    return text;
}

}  // namespace k8s_sd_program
