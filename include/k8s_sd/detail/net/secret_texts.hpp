#pragma once

#include "k8s_sd/detail/net/file_reader.hpp"
#include "k8s_sd/environment.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Texts that stand in the configuration, or in files that it names and that are read side by side.
/// A file that is unreadable, empty, malformed or takes longer than 10 s never replaces a good
/// value. Lives on one strand.
class SecretTexts {
 public:
    /// \param logger  is told once when a file turns bad while an older value serves, and once when
    ///                it is good again
    SecretTexts(asio::any_io_executor strand, std::shared_ptr<Clock>, std::shared_ptr<FileCalls>,
                Logger logger);
    SecretTexts(const SecretTexts&) = delete;
    SecretTexts& operator=(const SecretTexts&) = delete;
    ~SecretTexts();

    /// The index of a text.
    /// \param name  of the field, for messages; that of the file is added to it
    /// \param file  empty: `value` counts, which else serves until the file was read
    std::size_t add(const std::string& name, std::string_view value, const std::string& file);
    /// Reads all files. Called again only after the handler was; the handler is called from this
    /// call if there are no files, and may destroy this object.
    void async_read(std::function<void()>);

    /// The last good value.
    std::string_view operator[](std::size_t index) const;
    /// Whether each text has a value.
    bool complete() const;
    /// What is wrong with the texts as they were read; empty: nothing.
    std::string problem() const;
    /// When the files are to be read again; none if there are none.
    std::optional<TimePoint> expiry() const;

 private:
    struct Text;

    asio::any_io_executor strand_;
    std::shared_ptr<Clock> clock_;
    std::shared_ptr<FileCalls> calls_;
    Logger logger_;
    std::vector<std::unique_ptr<Text>> texts_;
    std::function<void()> handler_;
    std::size_t outstanding_ = 0;
};

}  // namespace k8s_sd::inline v0::detail
