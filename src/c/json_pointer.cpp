#include "json_pointer.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <system_error>

namespace k8s_sd_c {

namespace {

namespace json = boost::json;

const json::value* element(const json::array& array, std::string_view token) {
    std::size_t index = 0;
    const char* const end = token.data() + token.size();
    const auto [stop, error] = std::from_chars(token.data(), end, index);
    const bool leading_zero = token.size() > 1 && token.front() == '0';
    if (error != std::errc() || stop != end || leading_zero) return nullptr;
    return array.if_contains(index);
}

}  // namespace

std::string take_token(std::string_view& pointer) {
    const std::size_t size = std::min(pointer.find('/', 1), pointer.size());
    std::string token(pointer.substr(1, size - 1));
    pointer.remove_prefix(size);
    for (std::size_t at = 0; (at = token.find('~', at)) != std::string::npos; ++at) {
        if (token.compare(at, 2, "~1") == 0) token.replace(at, 2, "/");
        if (token.compare(at, 2, "~0") == 0) token.erase(at + 1, 1);
    }
    return token;
}

const json::value* find(const json::value& value, std::string_view pointer) {
    const json::value* found = &value;
    while (found && !pointer.empty()) {
        if (pointer.front() != '/') return nullptr;
        const std::string token = take_token(pointer);
        if (const json::object* object = found->if_object()) {
            found = object->if_contains({token.data(), token.size()});
        } else if (const json::array* array = found->if_array()) {
            found = element(*array, token);
        } else {
            found = nullptr;
        }
    }
    return found;
}

}  // namespace k8s_sd_c
