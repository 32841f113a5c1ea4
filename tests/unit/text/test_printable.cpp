#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/detail/text/utf8.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

using namespace k8s_sd::detail;

TEST_CASE("printable: foreign text in a message is UTF-8, be it cut or not") {
    CHECK(printable("a\xFF\nb") == "a\xEF\xBF\xBD b");
    for (const char* character : {"é", "€", "😀"}) {
        std::string text = "x";
        while (text.size() < 1000) text += character;
        for (std::size_t skip = 0; skip < 2; ++skip) {
            const std::string cut = printable(std::string_view(text).substr(skip));
            CHECK(is_utf8(cut));
            CHECK(cut.ends_with("…"));
            CHECK(cut.size() <= 403);
            CHECK(cut.find(replacement_character) == std::string::npos);
        }
    }
    CHECK(printable("a\xc2\x9b"
                    "31mb") == "a 31mb");
    CHECK(printable("a\xe2\x80\xae"
                    "b\xe2\x81\xa6"
                    "c\xe2\x80\xa8"
                    "d") == "a b c d");
    CHECK(printable("\xc2\xa0\xe2\x80\xa7\xe2\x80\xaf") == "\xc2\xa0\xe2\x80\xa7\xe2\x80\xaf");
    const std::string bad = printable(std::string(300, '\xFF'));
    CHECK(is_utf8(bad));
    CHECK(bad.size() == 399 + 3);
    CHECK(bad.ends_with("…"));
}
