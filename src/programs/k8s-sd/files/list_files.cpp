#include "files/list_files.hpp"

#include "files/file_problems.hpp"
#include "files/target_folder.hpp"

#include <boost/asio/post.hpp>
#include <algorithm>
#include <chrono>
#include <set>
#include <system_error>
#include <utility>

namespace k8s_sd_program {

namespace asio = boost::asio;

namespace {

/// The pause if a job has no room for another waiting reader, or has ended.
constexpr std::chrono::milliseconds refusal_pause{5'000};

}  // namespace

/// The folder and the worker of the files. It lives as long as the worker uses it.
struct ListFiles::Place {
    void remove_all_but(const std::set<std::string>& files, const LeftOut& left_out) {
        for (const std::string& file : folder.written()) {
            if (files.contains(file) || left_out.why(folder.job_of(file))) continue;
            try {
                folder.remove(file);
                problems.set(file, {});
            } catch (const std::system_error& e) {
                ++metrics.errors;
                problems.set(file, e.what());
                complain(e.what());
            }
        }
    }

    const asio::any_io_executor worker;
    const std::shared_ptr<k8s_sd::Clock> clock;
    const TargetFolder folder;
    const ListForm form;
    const FolderFile::Complain complain;
    FileMetrics& metrics;
    const std::chrono::milliseconds check_interval;
    FileProblems problems{};
};

/// Writes the file of a job repeatedly. All but its constructor runs on the worker.
class ListFiles::Writer : public std::enable_shared_from_this<Writer> {
 public:
    Writer(std::shared_ptr<ServedJob> job, std::shared_ptr<Place> place, std::string_view name)
        : job_(std::move(job)),
          place_(std::move(place)),
          begin_("job " + std::string(name) + ": "),
          file_name_(file_name_of(name)),
          file_(
              place_->folder, std::string(name),
              [begin = begin_, complain = place_->complain](const std::string& problem) {
                  complain(begin + problem);
              },
              place_->metrics),
          timer_(place_->clock->make_timer(place_->worker)) {}

    const std::shared_ptr<ServedJob>& job() const { return job_; }

    void ask() {
        if (stopped_) return;
        // The job responds early if there is a change. It may outlive the worker.
        job_->get({{place_->form}, {}, place_->check_interval, known_, place_->check_interval},
                  [weak = weak_from_this(), worker = place_->worker](const ListAnswer& answer) {
                      asio::post(worker, [weak, answer] {
                          if (const auto self = weak.lock()) self->on_answer(answer);
                      });
                  });
    }
    void stop() {
        stopped_ = true;
        timer_->cancel();
        place_->problems.set(file_name_, {});
    }

 private:
    void on_answer(const ListAnswer& answer) {
        if (stopped_) return;
        std::chrono::milliseconds pause{0};
        // Write a known list, too: the file may have been changed.
        if (answer.body) {
            pause = file_.write(*answer.body->bytes());
            place_->problems.set(file_name_,
                                 file_.good() ? std::string() : begin_ + file_.problem());
            if (file_.good()) known_ = answer.body->tag();
        }
        // A job that has ended may return before follow() is called.
        const bool refused = answer.why == Refusal::limit || answer.why == Refusal::ended;
        ask_after(refused ? std::max(pause, refusal_pause) : pause);
    }
    void ask_after(std::chrono::milliseconds pause) {
        timer_->expires_at(place_->clock->now() + pause, [this] { ask(); });
    }

    const std::shared_ptr<ServedJob> job_;
    const std::shared_ptr<Place> place_;
    const std::string begin_;  ///< prefix of messages
    const std::string file_name_;
    FolderFile file_;
    const std::unique_ptr<k8s_sd::Timer> timer_;
    std::string known_;
    bool stopped_ = false;
};

ListFiles::ListFiles(asio::any_io_executor worker, std::shared_ptr<k8s_sd::Clock> clock,
                     const std::string& folder, ListForm form, FolderFile::Complain complain,
                     FileMetrics& metrics, std::chrono::milliseconds check_interval)
    : place_(new Place{std::move(worker), std::move(clock), TargetFolder(folder), form,
                       std::move(complain), metrics, check_interval}) {}

ListFiles::~ListFiles() {
    for (auto& [job, writer] : writers_) {
        asio::post(place_->worker, [stopped = std::move(writer)] { stopped->stop(); });
    }
}

std::set<std::string> ListFiles::jobs_of_before() const {
    std::set<std::string> jobs;
    for (const std::string& file : place_->folder.written()) {
        const std::string job = place_->folder.job_of(file);
        if (!job.empty()) jobs.insert(job);
    }
    return jobs;
}

std::string ListFiles::problems() const { return place_->problems.lines(); }

void ListFiles::follow(const ServedJobs& jobs) {
    std::map<std::string, std::shared_ptr<Writer>, std::less<>> writers;
    std::set<std::string> files;
    for (const std::string_view name : jobs.names()) {
        files.insert(file_name_of(name));
        auto& writer = writers[std::string(name)];
        const auto old = writers_.find(name);
        if (old != writers_.end() && old->second->job() == jobs.find(name)) {
            writer.swap(old->second);
            continue;
        }
        writer = std::make_shared<Writer>(jobs.find(name), place_, name);
        asio::post(place_->worker, [writer] { writer->ask(); });
    }
    writers_.swap(writers);
    // A file does not always have the whole name of its job.
    for (const std::string& name : jobs.left_out().names()) files.insert(file_name_of(name));
    asio::post(place_->worker, [place = place_, old = std::move(writers), files = std::move(files),
                                left_out = jobs.left_out()]() mutable {
        for (const auto& [job, writer] : old) {
            if (writer) writer->stop();
        }
        old.clear();
        place->remove_all_but(files, left_out);
    });
}

}  // namespace k8s_sd_program
