#include "k8s_sd/error.hpp"

#include <boost/system/system_error.hpp>
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <new>
#include <string_view>
#include <system_error>

namespace k8s_sd::inline v0 {

namespace {

bool is_of_system(const boost::system::error_code& ec) {
    return ec.category() == boost::system::system_category() ||
           ec.category() == boost::system::generic_category();
}

std::string with_small_first_letter(std::string text) {
    const auto is_capital = [](char c) { return c >= 'A' && c <= 'Z'; };
    // Keep an abbreviation such as "RPC".
    if (text.size() > 1 && is_capital(text[0]) && !is_capital(text[1])) {
        text[0] = static_cast<char>(text[0] - 'A' + 'a');
    }
    return text;
}

/// "bad decrypt (Provider routines)": the name of the OpenSSL library does not help the reader.
std::string without_routines(std::string text) {
    const std::size_t begin = text.rfind(" (");
    if (begin != std::string::npos && text.ends_with("routines)")) text.resize(begin);
    return text;
}

/// The context before the text of the code. Asio puts names of system calls there.
std::string place_of(const boost::system::system_error& error) {
    std::string_view text = error.what();
    const std::string code = error.code().what();
    if (!text.ends_with(code)) return {};
    text.remove_suffix(code.size());
    return text.find(' ') < text.rfind(": ") ? std::string(text) : std::string();
}

std::string in_words_of(const std::system_error& error) {
    std::string text = error.what();
    const std::string code = error.code().message();
    if (!text.ends_with(code)) return text;
    text.resize(text.size() - code.size());
    return text + in_words(boost::system::error_code(error.code()));
}

std::string in_words_of(const std::filesystem::filesystem_error& error) {
    std::string text = error.path1().string();
    if (!error.path2().empty()) text += " and " + error.path2().string();
    return text + (text.empty() ? "" : ": ") + in_words(boost::system::error_code(error.code()));
}

}  // namespace

std::string in_words(const boost::system::error_code& ec) {
    std::string text = without_routines(with_small_first_letter(ec.message()));
    if (is_of_system(ec) && (ec.value() == EMFILE || ec.value() == ENFILE)) {
        text += "; raise the limit (ulimit -n)";
    }
    return text;
}

std::string in_words(const std::exception& error) {
    if (const auto* of_boost = dynamic_cast<const boost::system::system_error*>(&error)) {
        return place_of(*of_boost) + in_words(of_boost->code());
    }
    if (const auto* of_files = dynamic_cast<const std::filesystem::filesystem_error*>(&error)) {
        return in_words_of(*of_files);
    }
    if (const auto* of_system = dynamic_cast<const std::system_error*>(&error)) {
        return in_words_of(*of_system);
    }
    if (dynamic_cast<const std::bad_alloc*>(&error)) return "there is not enough memory";
    return error.what();
}

}  // namespace k8s_sd::inline v0
