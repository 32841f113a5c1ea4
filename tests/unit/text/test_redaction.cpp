#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/detail/text/base64.hpp"
#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/detail/text/redaction.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <string_view>

namespace k8s_sd::detail::redaction_tests {
namespace {

std::string redacted(std::string_view authorization, const std::string& text) {
    CleansedBytes value;
    append(value, authorization);
    return redact(text, secrets_of(value));
}

const std::string token = "eyJhbGciOiJSUzI1NiIs.SW1/+bnRpd=Hk0Zm9v-Qmfy_9xQ";
std::string bearer(const std::string& text) { return redacted("Bearer " + token, text); }
std::string basic(const std::string& user_password, const std::string& text) {
    return redacted("Basic " + encode_base64<std::string>(user_password), text);
}

TEST_CASE("redact: ordinary texts stay as they are") {
    const std::string text = "pods is forbidden: User \"system:serviceaccount:a:b\" 100% C:\\users";
    CHECK(bearer(text) == text);
    CHECK(basic("admin:correct horse battery", text) == text);
    CHECK(redacted("", text) == text);
    CHECK(redact("", {}).empty());
}

TEST_CASE("redact: a token is found whole, in part, and in another case") {
    CHECK(bearer(token) == "<redacted>");
    CHECK(bearer("<Authorization: Bearer " + token + ">") == "<Authorization: Bearer <redacted>>");
    CHECK(bearer("begin " + token.substr(0, 20) + ", end") == "begin <redacted>, end");
    CHECK(bearer("..." + token.substr(20, 12) + ", end") == "...<redacted>, end");
    CHECK(bearer(token.substr(30, 11)) == token.substr(30, 11));
    CHECK(bearer("x eyjhbgcioijsuzi1niis.sw1 x") == "x <redacted> x");
    CHECK(bearer(token + " and " + token) == "<redacted> and <redacted>");
}

TEST_CASE("redact: line breaks and blanks in a token do not hide it, wherever they stand") {
    for (const std::size_t column : {8U, 9U, 10U, 11U, 20U, 31U}) {
        for (const std::string_view gap : {"\n", "\r\n", "\r\n\t ", "   ", "\\r\\n"}) {
            CAPTURE(column, gap);
            std::string text = "got ";
            for (std::size_t i = 0; i < token.size(); i += column) {
                if (i > 0) text += gap;
                text += token.substr(i, column);
            }
            CHECK(bearer(text + " today") == "got <redacted> today");
            CHECK(bearer(printable(text + " today")) == "got <redacted> today");
        }
    }
    std::string split;
    for (std::size_t i = 0; i < token.size(); i += 8) split += token.substr(i, 8) + "\r\n";
    CHECK(bearer("a " + split + "b") == "a <redacted>\r\nb");
    CHECK(bearer("\"" + token.substr(0, 9) + "\\n" + token.substr(9) + "\"") == "\"<redacted>\"");
}

TEST_CASE("redact: percent-encoded and JSON-escaped echoes are found") {
    CHECK(bearer("?token=eyJhbGciOiJSUzI1NiIs.SW1%2F%2BbnRpd%3dHk0Zm9v-Qmfy_9xQ&x=1") ==
          "?token=<redacted>&x=1");
    CHECK(bearer("SW1%2f%2bbnRpd%3DH") == "<redacted>");
    CHECK(bearer(R"({"a":"eyJhbGciOiJSUzI1NiIs.SW1\/\u002bbnRpd\u003DHk0Zm9v-Qmfy_9xQ"})") ==
          R"({"a":"<redacted>"})");
    CHECK(basic("admin:say \"open\" to \\me", R"(pw="say \"open\" to \\me")") ==
          R"(pw="<redacted>")");
    CHECK(basic("admin:a%41b%42c%43d%44e", "a%41b%42c%43d%44e") == "<redacted>");
    CHECK(basic("admin:a%41b%42c%43d%44e", "a%2541b%2542c%2543d%2544e") == "<redacted>");
}

TEST_CASE("redact: of basic credentials the password goes, also a short one") {
    const std::string secret = "admin:s3cret";
    const std::string encoded = encode_base64<std::string>(secret);
    CHECK(basic(secret, "user admin, password S3cret.") == "user admin, password <redacted>.");
    CHECK(basic(secret, "admin:s3cret@host") == "admin:<redacted>@host");
    CHECK(basic(secret, "Basic " + encoded) == "Basic <redacted>");
    CHECK(basic(secret, "xx" + encoded + "yy") == "xx<redacted>yy");
    CHECK(basic("u:correct horse battery", "a:CORRECT HORSE!") == "a:<redacted>!");
    CHECK(basic("no-colon-at-all", "is no-colon-at-all there") == "is <redacted> there");
}

TEST_CASE("redact: the name of the user stays readable") {
    const std::string text =
        R"(User "kubernetes-admin" cannot list resource "pods", kubernetes-admin:)";
    for (const std::string password : {"pw", "s3cret", "correct horse battery"}) {
        CHECK(basic("kubernetes-admin:" + password, text + password) == text + "<redacted>");
    }
}

TEST_CASE("redact: a key in place of the user's name goes") {
    CHECK(basic("some-key-of-mine:", "no some-key-of-mine") == "no <redacted>");
}

TEST_CASE("redact: a secret of few characters counts as a word only") {
    CHECK(basic("u:ab", "about ab, cab") == "about <redacted>, cab");
    CHECK(basic("u:test", "the latest te st: test, testing") ==
          "the latest te st: <redacted>, testing");
    CHECK(basic("u:s3cret1", R"({"a":"\ns3cret1\n"}, s3cret1.)") ==
          R"({"a":"\n<redacted>\n"}, <redacted>.)");
    CHECK(basic("u:s3cret12", "xxs3cret12yy") == "xx<redacted>yy");
    CHECK(basic("u:a\tb", printable("is a\tb, isa\tb")) == "is <redacted>, isa b");
}

TEST_CASE("redact: echoes that are escaped for HTML are found") {
    const std::string password = "p&ss\"w0rd<long>'s";
    for (const std::string echo :
         {"p&amp;ss&quot;w0rd&lt;long&gt;&#39;s", "p&#38;ss&#034;w0rd&#60;long&#62;&apos;s",
          "p&#x26;ss&#X22;w0rd&#x3c;long&#x3E;&#x27;s", "p&ss\"w0rd<long>'s"}) {
        CHECK(basic("u:" + password, "<p>" + echo + "</p>") == "<p><redacted></p>");
        CHECK(basic("u:" + password, printable("<p>\n" + echo + "</p>")) == "<p> <redacted></p>");
    }
    CHECK(basic("u:&&ok", "<b>&amp;&amp;ok</b>") == "<b><redacted></b>");
    CHECK(basic("u:a&lt;b&gt;c&amp;d", "a&lt;b&gt;c&amp;d") == "<redacted>");
    CHECK(basic("u:a&lt;b&gt;c&amp;d", "a&amp;lt;b&amp;gt;c&amp;amp;d") == "<redacted>");
    const std::string others = "& &; &#; &#x; &#300; &#x100; &# 9; &none; &amp &#x2";
    CHECK(basic("u:some other password", others) == others);
}

TEST_CASE("redact: hostile texts cost little") {
    const std::string huge(std::size_t{1} << 20, '%');
    CHECK(bearer(huge).size() == 64 * 1024);
    CHECK(bearer("\\") == "\\");
    CHECK(bearer("%4") == "%4");
    CHECK(bearer("\\u00") == "\\u00");
    CHECK(redacted("Basic !!!", "a text") == "a text");
    CHECK(redacted("Bearer", "a text") == "a text");
    const std::string same(60'000, 'a');
    CHECK(redacted("Bearer " + same, same + same.substr(0, 1000)) == "<redacted>");
}

}  // namespace
}  // namespace k8s_sd::detail::redaction_tests
