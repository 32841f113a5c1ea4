# cmake -DOUTPUT=FILE -DFOLDER=DIR -P embed.cmake: writes the files of the page as C++.
set(text "// Made of the files of the page by embed.cmake.\n")
string(APPEND text "#include \"page/page_files.hpp\"\n\nnamespace k8s_sd_program {\n")
foreach(name index.html app.js app.css)
    file(READ "${FOLDER}/${name}" hex HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
    string(REGEX REPLACE "[.]" "_" symbol "${name}")
    string(APPEND text "namespace {\nconstexpr unsigned char ${symbol}[] = {${bytes}};\n}\n")
endforeach()
string(APPEND text "
std::string_view page_file(std::string_view name) noexcept {
    const auto view = [](const auto& bytes) {
        return std::string_view(reinterpret_cast<const char*>(bytes), sizeof bytes);
    };
    if (name == \"index.html\") return view(index_html);
    if (name == \"app.js\") return view(app_js);
    return view(app_css);
}

}  // namespace k8s_sd_program
")
file(WRITE "${OUTPUT}" "${text}")
