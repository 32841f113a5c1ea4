#include "cli/json_text.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/json/parse.hpp>
#include <random>
#include <string>

namespace {

std::string json(std::string_view text) {
    std::string out;
    cli::append_json(out, text);
    return out;
}

}  // namespace

TEST_CASE("append_json: the shortest escapes") {
    CHECK(json("") == R"("")");
    CHECK(json("a/b<c>'d'") == R"("a/b<c>'d'")");
    CHECK(json("say \"hi\" \\ \b\f\n\r\t") == R"("say \"hi\" \\ \b\f\n\r\t")");
    CHECK(json(std::string_view("\0\x01\x1f", 3)) == R"("\u0000\u0001\u001f")");
    CHECK(json("gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80") == "\"gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80\"");
}

TEST_CASE("append_json: no variable of vmagent's environment is named") {
    CHECK(json("%{SECRET} 100% %") == R"("\u0025{SECRET} 100% %")");
    CHECK(json("%%{A}") == R"("%\u0025{A}")");
}

TEST_CASE("append_json: nothing that a YAML reader breaks a line at or refuses") {
    CHECK(json("\x7f\xc2\x85\xc2\x9f") == R"("\u007f\u0085\u009f")");
    CHECK(json("\xe2\x80\xa8\xe2\x80\xa9\xef\xbb\xbf") == R"("\u2028\u2029\ufeff")");
    CHECK(json("\xef\xbf\xbe\xef\xbf\xbf") == R"("\ufffe\uffff")");
    CHECK(json("\xc2\xa0\xe2\x80\xae") == "\"\xc2\xa0\xe2\x80\xae\"");
}

TEST_CASE("append_json: what is no UTF-8 is replaced, byte by byte") {
    const std::string bad = "\xEF\xBF\xBD";
    CHECK(json("a\xff"
               "b") == "\"a" + bad + "b\"");
    CHECK(json("\xc3") == '"' + bad + '"');                                // cut off
    CHECK(json("\xc0\xaf") == '"' + bad + bad + '"');                      // longer than needed
    CHECK(json("\xed\xa0\x80") == '"' + bad + bad + bad + '"');            // a surrogate
    CHECK(json("\xf4\x90\x80\x80") == '"' + bad + bad + bad + bad + '"');  // beyond Unicode
}

TEST_CASE("append_json: a parser takes whatever becomes of any bytes") {
    std::mt19937 random(1);
    for (int round = 0; round < 2000; ++round) {
        std::string text;
        for (auto i = random() % 12; i > 0; --i) text += static_cast<char>(random() % 256);
        // The text was invalid UTF-8, and the output is valid.
        const std::string read(boost::json::parse(json(text)).as_string());
        CHECK(boost::json::parse(json(read)).as_string() == read);
    }
    const std::string good = "a\"\\%{x}\n\xe2\x80\xa8 \xf0\x9f\x98\x80";
    CHECK(boost::json::parse(json(good)).as_string() == good);
}
