#include "k8s_sd/detail/auth/credential_source.hpp"
#include "k8s_sd/detail/auth/secret_texts.hpp"
#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/detail/config/rules.hpp"
#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/detail/text/utf8.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

/// Prometheus and client-go re-read token files about once a minute.
constexpr Duration credentials_file_lifetime = std::chrono::seconds(60);

}  // namespace

struct SecretTexts::Text {
    Text(const SecretTexts& all, std::string n, std::string f)
        : name(std::move(n)), file(std::move(f)), reader(all.strand_, all.clock_, all.calls_) {}

    void accept(std::string_view text) {
        if (!is_header_text(text)) {
            problem = name + ": it contains a line break or another control character";
            return;
        }
        problem.clear();
        CleansedBytes fresh;
        append(fresh, text);
        value.swap(fresh);
        known = true;
    }
    void on_content(const FileContent& content) {
        const std::string_view text = trim(without_byte_order_mark(view(content.bytes)));
        if (!content.problem.empty()) {
            problem = name + ": " + content.problem;
        } else if (text.empty()) {
            problem = name + ": it is empty";
        } else {
            accept(text);
            from_file = from_file || problem.empty();
        }
    }
    /// Logs the problem, unless it is reported as the watch's error for lack of an older value.
    void report(const Logger& logger) {
        if (!known || reported == problem) return;
        reported = problem;
        const LogEvent event =
            problem.empty() ? LogEvent::credentials_recovered : LogEvent::credentials_failed;
        logger.log(LogLevel::warning, event,
                   problem.empty() ? name + ": usable again"
                                   : problem + (from_file ? "; the value read before stays in use"
                                                          : "; the value beside it is used"));
    }

    const std::string name;
    const std::string file;
    CleansedBytes value;
    bool known = false;
    bool from_file = false;  ///< else from the configuration
    std::string problem;     ///< of the last read
    std::string reported;    ///< the last logged problem
    FileReader reader;
};

SecretTexts::SecretTexts(asio::any_io_executor strand, std::shared_ptr<Clock> clock,
                         std::shared_ptr<FileCalls> calls, Logger logger)
    : strand_(std::move(strand)),
      clock_(std::move(clock)),
      calls_(std::move(calls)),
      logger_(std::move(logger)) {}

SecretTexts::~SecretTexts() = default;

std::size_t SecretTexts::add(const std::string& name, std::string_view value,
                             const std::string& file) {
    texts_.push_back(std::make_unique<Text>(*this, file.empty() ? name : name + " " + file, file));
    if (file.empty() || !value.empty()) texts_.back()->accept(value);
    return texts_.size() - 1;
}

void SecretTexts::async_read(std::function<void()> handler) {
    handler_ = std::move(handler);
    outstanding_ = 1;  // this call
    for (const auto& text : texts_) {
        if (!text->file.empty()) read(*text);
    }
    end_one();
}

void SecretTexts::read(Text& text) {
    ++outstanding_;
    try {
        text.reader.async_read(text.file, [this, &text](const FileContent& content) {
            try {
                text.on_content(content);
                text.report(logger_);
            } catch (const std::bad_alloc&) {
                text.problem = no_memory;
            }
            end_one();
        });
    } catch (const std::bad_alloc&) {
        text.problem = no_memory;
        --outstanding_;
    }
}

/// The handler may destroy this object.
void SecretTexts::end_one() {
    if (--outstanding_ == 0) std::exchange(handler_, nullptr)();
}

std::string_view SecretTexts::operator[](std::size_t index) const {
    return view(texts_[index]->value);
}

bool SecretTexts::complete() const {
    return std::all_of(texts_.begin(), texts_.end(), [](const auto& text) { return text->known; });
}

std::string SecretTexts::problem() const {
    std::vector<std::string_view> problems;
    for (const auto& text : texts_) {
        if (!text->problem.empty()) problems.push_back(text->problem);
    }
    return join(problems, "; ");
}

std::optional<TimePoint> SecretTexts::expiry() const {
    bool files = false;
    for (const auto& text : texts_) {
        if (text->file.empty()) continue;
        // The file may be incomplete: read it again for the next request.
        if (!text->problem.empty()) return clock_->now();
        files = true;
    }
    if (!files) return std::nullopt;
    return clock_->now() + credentials_file_lifetime;
}

}  // namespace k8s_sd::inline v0::detail
