#include "k8s_sd/detail/async/strand.hpp"
#include "k8s_sd/detail/base/backoff.hpp"
#include "k8s_sd/detail/base/dialect_rules.hpp"
#include "k8s_sd/detail/discovery/sources/file_targets.hpp"
#include "k8s_sd/error.hpp"

#include <boost/asio/post.hpp>
#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr Duration max_scan_time = std::chrono::seconds(10);
constexpr Duration min_scan_interval = std::chrono::seconds(1);

std::shared_ptr<const FileScan> failed_scan(const std::string& problem) {
    const auto scan = std::make_shared<FileScan>();
    scan->problem = "cannot read files: " + problem;
    return scan;
}

/// The first problem and the number of problems.
std::string summary(const FileScan& scan) {
    std::vector<std::string> all = scan.omissions;
    for (const auto& [path, file] : scan.files) {
        if (!file.problem.empty()) all.push_back(file.problem);
    }
    for (const std::string& path : scan.missing) all.push_back(path + ": there is no such file");
    if (all.size() < 2) return all.empty() ? "" : all.front();
    return "(" + std::to_string(all.size()) + " problems) " + all.front();
}

}  // namespace

FileTargets::FileTargets(asio::any_io_executor strand, const Environment& environment,
                         FileSdConfig config, std::shared_ptr<SourceState> source)
    : strand_(std::move(strand)),
      clock_(environment.clock),
      calls_(environment.file_calls),
      metrics_(environment.metrics),
      config_(std::move(config)),
      source_(std::move(source)),
      maker_(std::make_shared<TargetGroupMaker>()) {}

void FileTargets::start() {
    asio::post(strand_, [self = shared_from_this()] {
        self->timer_ = self->clock_->make_timer(self->strand_);
        self->scan();
    });
}

void FileTargets::stop() noexcept {
    end_post_.post(strand_, [self = shared_from_this()] {
        self->timer_.reset();
        self->pending_answer_.cancel();
    });
}

void FileTargets::scan() {
    metrics_->target_file_scans.fetch_add(1, std::memory_order_relaxed);
    timer_->expires_at(clock_->now() + max_scan_time,
                       if_alive(weak_from_this(), &FileTargets::on_hanging));
    ask();
}

void FileTargets::ask() {
    const auto read = [config = config_, known = known(), maker = maker_]() -> FileScanPtr {
        try {
            return std::make_shared<const FileScan>(scan_files(config, known, *maker));
        } catch (const std::exception& e) {
            return failed_scan(in_words(e));
        }
    };
    pending_answer_ = async_elsewhere<FileScanPtr>(
        strand_, calls_, read, failed_scan, [weak = weak_from_this()](const FileScanPtr& scan) {
            if (const auto self = weak.lock()) self->on_scan(*scan);
        });
}

void FileTargets::scan_later() {
    timer_->expires_at(due_after(clock_->now(), std::max(config_.interval, min_scan_interval)),
                       if_alive(weak_from_this(), &FileTargets::scan));
}

/// Keeps waiting for the scan: another one would take as long.
void FileTargets::on_hanging() { fail("reading the files takes longer than 10 s"); }

void FileTargets::fail(const std::string& problem) {
    metrics_->target_file_failures.fetch_add(1, std::memory_order_relaxed);
    source_->fail(errc::target_file_failed, problem);
}

void FileTargets::on_scan(const FileScan& scan) {
    pending_answer_.cancel();
    scan_later();
    if (!scan.problem.empty()) return fail(scan.problem);
    std::size_t failures = scan.omissions.size();
    for (const auto& [path, file] : scan.files) failures += file.problem.empty() ? 0U : 1U;
    metrics_->target_file_failures.fetch_add(failures, std::memory_order_relaxed);
    KnownFiles files = merge(scan);
    const auto lists = lists_of(files);
    if (!listed_ || lists != lists_of(files_)) is_news_ = true;
    const bool nothing_known = failures > 0 && lists.empty();
    files_ = std::move(files);
    report(summary(scan), nothing_known);
}

/// The targets after a scan: for a failed file, its previous targets, if the dialect keeps them or
/// a limit is the reason.
FileTargets::KnownFiles FileTargets::merge(const FileScan& scan) const {
    const bool keeps = !rules_of(config_.dialect).drops_targets_of_bad_files;
    KnownFiles files;
    for (const auto& [path, file] : scan.files) {
        const auto before = files_.find(path);
        Known known = before == files_.end() ? Known{} : before->second;
        if (file.groups) {
            known = {{file.content, {}}, *file.groups};
        } else if (!file.problem.empty() && !keeps && !file.over_limit) {
            known = {};
        }
        known.file.bad = file.content.mistake.empty() ? TargetFileContent{} : file.content;
        files.emplace(path, std::move(known));
    }
    return files;
}

std::vector<std::pair<std::string_view, std::size_t>> FileTargets::lists_of(
    const KnownFiles& files) {
    std::vector<std::pair<std::string_view, std::size_t>> lists;
    for (const auto& [path, known] : files) {
        if (known.file.list.hash != 0) lists.emplace_back(path, known.file.list.hash);
    }
    return lists;
}

void FileTargets::report(const std::string& problem, bool nothing_known) {
    const error_code error = problem.empty() ? error_code() : errc::target_file_failed;
    // Until a first file has been read, do not publish an empty state.
    if (!is_news_ || (nothing_known && !listed_)) return source_->fail(error, problem);
    std::vector<TargetGroupPtr> groups;
    for (const auto& [path, known] : files_) {
        groups.insert(groups.end(), known.groups.begin(), known.groups.end());
    }
    source_->set(groups, error, problem);
    listed_ = true;  // not before: without memory, the next scan publishes the groups
    is_news_ = false;
}

KnownTargetFiles FileTargets::known() const {
    KnownTargetFiles files;
    for (const auto& [path, known] : files_) files.emplace(path, known.file);
    return files;
}

}  // namespace k8s_sd::inline v0::detail
