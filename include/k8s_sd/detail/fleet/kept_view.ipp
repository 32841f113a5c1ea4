#include "k8s_sd/detail/async/strand.hpp"
#include "k8s_sd/detail/fleet/kept_view.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <stdexcept>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr std::size_t max_view_bytes = std::size_t{4} << 20;

/// Reports an exception, such as a lack of memory, as a problem.
FileBytes read_view_file(const SnapshotFiles& files, const std::string& name) {
    try {
        return files.read(name, max_view_bytes);
    } catch (const std::exception& e) {
        return {.problem = std::string("it cannot be read: ") + e.what()};
    }
}

std::string write_view_file(const SnapshotFiles& files, const std::string& name,
                            const std::string& bytes) {
    try {
        return files.write(name, max_view_bytes, [&] { return bytes; });
    } catch (const std::exception& e) {
        return std::string("it cannot be written: ") + e.what();
    }
}

/// The interval for rewriting an unchanged view.
Duration rewrite_interval(Duration max_age) {
    return std::max<Duration>(max_age / 4, std::chrono::seconds(1));
}

}  // namespace

KeptView::KeptView(asio::any_io_executor strand, const ContextEnvironment& environment,
                   ViewFile file)
    : strand_(std::move(strand)),
      clock_(environment.clock()),
      calls_(environment.file_calls()),
      file_(std::move(file)),
      files_(SnapshotFiles::of(strand_, file_.directory)),
      report_(environment.metrics(), environment.logger(), "the fleet view in " + file_.directory) {
}

void KeptView::stop() noexcept {
    on_known_ = nullptr;
    reading_.cancel();
    written_.cancel();
    timer_.reset();
}

void KeptView::load(const Digest& identity, std::function<void(const FleetViewPtr&)> on_known) {
    identity_ = identity;
    on_known_ = std::move(on_known);
    timer_ = clock_->make_timer(strand_);
    reading_ = async_elsewhere<FileBytes>(
        strand_, calls_,
        [files = files_, name = file_name()] { return read_view_file(*files, name); },
        [](const std::string& problem) { return FileBytes{.problem = problem}; },
        if_alive(weak_from_this(), [identity](KeptView& self, const FileBytes& read) {
            self.on_loaded(identity, read);
        }));
}

void KeptView::on_loaded(const Digest& identity, const FileBytes& file) {
    reading_.cancel();
    if (file.is_missing) return;
    if (!file.problem.empty()) return ignore(file.problem);
    const ReadSnapshot read = read_snapshot(file.bytes, key_of(identity), file_.max_age,
                                            std::chrono::system_clock::now());
    if (!read.problem.empty()) return ignore("the file " + read.problem);
    const FleetViewPtr view = unpack_view(read.payload);
    if (!view) return ignore("the file is damaged");
    // An empty view carries no information.
    const auto on_known = std::exchange(on_known_, nullptr);
    if (!on_known || view->size() == 0) return;
    report_.on_known(read.age);
    on_known(view);
}

void KeptView::ignore(const std::string& problem) {
    const bool wanted = std::exchange(on_known_, nullptr) != nullptr;
    report_.on_ignored(problem, wanted);
}

void KeptView::on_seen() {
    on_known_ = nullptr;
    report_.on_seen();
}

void KeptView::keep(const Digest& identity, FleetViewPtr view) {
    identity_ = identity;
    view_ = std::move(view);
    write();
}

void KeptView::forget() {
    view_ = nullptr;
    changed_ = false;
    if (timer_) timer_->cancel();
}

void KeptView::write() {
    changed_ = writing_;
    if (!timer_ || !view_ || std::exchange(writing_, true)) return;
    timer_->cancel();
    written_ = LateAnswers::async_ask<std::string>(
        strand_, nullptr,
        [this](const std::function<void(std::string)>& complete) {
            const auto call = [complete, files = files_, name = file_name(), bytes = view_bytes()] {
                complete(write_view_file(*files, name, bytes));
            };
            if (!calls_->run(call)) throw std::runtime_error("too many files are being written");
        },
        [](const std::string& problem) { return problem; },
        if_alive(weak_from_this(), &KeptView::on_written));
}

/// Serialize here, not in the writing thread: at the end of the process OpenSSL may already have
/// freed data needed for a checksum while that thread is still running.
std::string KeptView::view_bytes() const {
    const std::string payload = pack_view(*view_);
    if (!unpack_view(payload)) {
        throw std::runtime_error("there are too many members, or the name of one is invalid");
    }
    return snapshot_bytes(key_of(identity_), std::chrono::system_clock::now(), payload);
}

void KeptView::on_written(const std::string& problem) {
    written_.cancel();
    writing_ = false;
    report_.on_written(problem);
    if (changed_) return write();
    const Duration pause = rewrite_interval(file_.max_age);
    const Duration retry = std::min<Duration>(pause, std::chrono::minutes(1));
    timer_->expires_at(clock_->now() + (problem.empty() ? pause : retry),
                       if_alive(weak_from_this(), &KeptView::write));
}

}  // namespace k8s_sd::inline v0::detail
