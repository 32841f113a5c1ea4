#include "k8s_sd/detail/fleet/kept_view.hpp"
#include "k8s_sd/detail/fleet/packed_view.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <stdexcept>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr std::size_t most_view_bytes = std::size_t{4} << 20;

std::string view_file_name(const ViewFile& file) { return hex(file.identity, 16) + ".view"; }
SnapshotKey view_key(const ViewFile& file) { return {"view 1", file.identity}; }

/// Memory may be short.
LoadedView load_view(const SnapshotFiles& files, const ViewFile& file) {
    try {
        const ReadSnapshot read =
            files.read(view_file_name(file), view_key(file), file.max_age, most_view_bytes);
        LoadedView loaded{.age = read.age, .problem = read.problem, .is_missing = read.is_missing};
        if (!loaded.problem.empty()) return loaded;
        loaded.view = unpack_view(read.payload);
        if (!loaded.view) loaded.problem = "the file is damaged";
        return loaded;
    } catch (const std::exception& e) {
        return {.problem = std::string("the file takes more than there is: ") + e.what()};
    }
}

std::string save_view(const SnapshotFiles& files, const ViewFile& file, const FleetView& view) {
    try {
        const std::string payload = pack_view(view);
        if (!unpack_view(payload)) return "there are too many members, or one with a strange name";
        return files.write(view_file_name(file), view_key(file), most_view_bytes,
                           [&] { return payload; });
    } catch (const std::exception& e) {
        return std::string("it takes more than there is: ") + e.what();
    }
}

/// Between two writes of the same.
Duration rewrite_interval(Duration max_age) {
    return std::max<Duration>(max_age / 4, std::chrono::seconds(1));
}

}  // namespace

KeptView::KeptView(asio::any_io_executor strand, const ContextEnvironment& environment,
                   ViewFile file)
    : strand_(std::move(strand)),
      clock_(environment.clock()),
      metrics_(environment.metrics()),
      calls_(environment.file_calls()),
      log_(environment.logger()),
      file_(std::move(file)),
      what_("the fleet view in " + file_.directory),
      files_(SnapshotFiles::of(strand_, file_.directory)) {}

void KeptView::stop() noexcept {
    on_known_ = nullptr;
    reading_.cancel();
    written_.cancel();
    timer_.reset();
}

std::string KeptView::words() const {
    const std::lock_guard lock(mutex_);
    return write_words_.empty() ? read_words_ : write_words_;
}

void KeptView::set(std::string& words, std::string now) {
    const std::lock_guard lock(mutex_);
    words = std::move(now);
}

void KeptView::load(std::function<void(const FleetViewPtr&)> on_known) {
    on_known_ = std::move(on_known);
    timer_ = clock_->make_timer(strand_);
    reading_ = LateAnswers::async_ask<LoadedView>(
        strand_, nullptr,
        [this](const std::function<void(LoadedView)>& land) {
            const auto call = [land, files = files_, file = file_] {
                land(load_view(*files, file));
            };
            if (!calls_->run(call)) throw std::runtime_error("too many files are being read");
        },
        [](const std::string& problem) { return LoadedView{.problem = problem}; },
        [weak = weak_from_this()](const LoadedView& loaded) {
            if (const auto self = weak.lock()) self->on_loaded(loaded);
        });
}

void KeptView::on_loaded(const LoadedView& loaded) {
    reading_.cancel();
    const auto on_known = std::exchange(on_known_, nullptr);
    if (loaded.is_missing) return;
    if (!loaded.problem.empty()) {
        ++metrics_->snapshots_ignored;
        const std::string words = what_ + " is ignored: " + loaded.problem;
        if (on_known) set(read_words_, words);
        return log_.log(LogLevel::warning, words);
    }
    // An empty one says as little as none.
    if (!on_known || loaded.view->size() == 0) return;
    set(read_words_,
        "the view is that of before the restart, " + std::to_string(loaded.age.count()) + " s old");
    on_known(loaded.view);
}

void KeptView::on_seen() {
    on_known_ = nullptr;
    set(read_words_, {});
}

void KeptView::keep(FleetViewPtr view) {
    view_ = std::move(view);
    write();
}

void KeptView::write() {
    changed_ = writing_;
    if (!timer_ || std::exchange(writing_, true)) return;
    timer_->cancel();
    written_ = LateAnswers::async_ask<std::string>(
        strand_, nullptr,
        [this](const std::function<void(std::string)>& land) {
            const auto call = [land, files = files_, file = file_, view = view_] {
                land(save_view(*files, file, *view));
            };
            if (!calls_->run(call)) throw std::runtime_error("too many files are being written");
        },
        [](const std::string& problem) { return problem; },
        [weak = weak_from_this()](const std::string& problem) {
            if (const auto self = weak.lock()) self->on_written(problem);
        });
}

void KeptView::on_written(const std::string& problem) {
    written_.cancel();
    writing_ = false;
    ++(problem.empty() ? metrics_->snapshots_written : metrics_->snapshot_failures);
    if (std::exchange(write_problem_, problem) != problem) {
        const std::string words =
            problem.empty() ? std::string() : what_ + " is not written: " + problem;
        set(write_words_, words);
        if (!words.empty()) log_.log(LogLevel::warning, words);
    }
    if (changed_) return write();
    const Duration pause = rewrite_interval(file_.max_age);
    const Duration retry = std::min<Duration>(pause, std::chrono::minutes(1));
    timer_->expires_at(clock_->now() + (problem.empty() ? pause : retry),
                       [weak = weak_from_this()] {
                           if (const auto self = weak.lock()) self->write();
                       });
}

}  // namespace k8s_sd::inline v0::detail
