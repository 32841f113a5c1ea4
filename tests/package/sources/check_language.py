#!/usr/bin/env python3
"""Checks the language of comments, docstrings and documents: words of the field only, and few
relative pronouns, because a sentence of subject, verb and object needs none. Covers the library,
src/, examples/, tests/, bench/, scripts/, the CMake files and the documents. Names and messages in
the library and in src/, and names of tests, have words of the field, too.

usage: check_language.py PROJECT
"""
import ast
import io
import pathlib
import re
import sys
import tokenize

PRONOUN = re.compile(r"\b(?:who|whom|whose|which|that|what|whoever|whatever)\b", re.IGNORECASE)
PRONOUNS_A_SENTENCE = 0.2
# Words for which Kubernetes, Prometheus, Asio or plain English have a better one.
REFUSED = re.compile(
    r"\b(?:nobody|for ever|tells|told|storeys?|barren|audiences?|seats?|patience"
    r"|shrunken|bridges?|(?<!third )part(?:y|ies)|flights|kept objects?|newest (?:state )?wins)\b", re.IGNORECASE)
# The same in messages of the library and of src/, and the words of names.
REFUSED_IN_MESSAGE = re.compile(r"\b(?:nobody|for ever|tells|told|shrunken|bridges?)\b",
                                re.IGNORECASE)
REFUSED_IN_TEST_NAME = re.compile(r"(?<![a-z])(?:nobody|for[ _]ever|tells|told)(?![a-z])",
                                  re.IGNORECASE)
TEST_CASE = re.compile(r'\b(?:TEST_CASE|SECTION)\(\s*((?:"(?:[^"\\\n]|\\.)*"\s*)+)')
# A test of unittest, or a scenario.
TEST_FUNCTION = re.compile(r"^ *def (test_\w+|\w+(?=\(w\):))", re.MULTILINE)
REFUSED_IN_NAME = re.compile(
    r"storeys?|barren|audiences?|seats?|patience|patient|party|parties|flights|told|tells|turns?"
    r"|shrunken|deepest|bridges?")
# The former prefix of the metrics of k8s-sd.
REFUSED_PREFIX = "k8s_sd_bridge"
# The word of Kubernetes is "most recent"; a bound is `max_…` or `min_…`.
BOUND = re.compile(r"(?:most|least|longest|shortest)(?:_?$|_(?!recent_?$)\w)")
NAME = re.compile(r"[A-Za-z_]\w*")
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
SENTENCE_END = re.compile(r"(?<=[.!?:])\s+(?=[A-Z`*(])")
MIN_SENTENCE = 4  # words
# The history of changes: released text stays unchanged.
HISTORY = "CHANGELOG.md"
# Folders with code outside of the library.
FOLDERS = ("src", "examples", "tests", "bench", "docs", "scripts", "cmake")
# Recorded files and input of fuzzers.
DATA = ("tests/data", "tests/fuzz/corpus")
PYTHON = re.compile(r"#!.*\bpython3?\b")


def comment_blocks(text, marker):
    """The comments of consecutive lines, each block as one text."""
    block = []
    for line in text.splitlines():
        comment = re.match(rf"\s*{marker}<?\s?(.*)", line)
        if comment:
            block.append(comment.group(1))
        elif block:
            yield " ".join(block)
            block = []
    if block:
        yield " ".join(block)


def trailing_comments(text):
    """The comments behind C++ code; clang-format writes two spaces before them."""
    return re.findall(r"^.*\S  //+<?\s?(.*)", text, re.MULTILINE)


def cpp_comments(text):
    return [*comment_blocks(text, "//+"), *trailing_comments(text)]


def python_comments(text):
    """The comments and docstrings of a Python program."""
    lines = [""] * text.count("\n")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not token.line[:token.start[1]].strip():
            lines[token.start[0] - 1] = token.string
        elif token.type == tokenize.COMMENT:
            yield token.string.lstrip("# ")
    yield from comment_blocks("\n".join(lines), "#+")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            yield from re.split(r"\n\s*\n", ast.get_docstring(node) or "")


def script_comments(text):
    """The comments of a Python program, or of another script."""
    return python_comments(text) if PYTHON.match(text) else comment_blocks(text, "#+")


def paragraphs(text):
    """The prose of a document, without code, tables and headings."""
    for paragraph in re.split(r"\n\s*\n", re.sub(r"```.*?```", "", text, flags=re.DOTALL)):
        if not paragraph.lstrip().startswith(("|", "#", "<", "![")):
            yield paragraph


def sentences(blocks):
    for block in blocks:
        without_code = re.sub(r"`[^`]*`", "X", block)
        for sentence in SENTENCE_END.split(without_code):
            if len(sentence.split()) >= MIN_SENTENCE:
                yield " ".join(sentence.split())


def refused_names(code):
    """Names with a refused word, and names of bounds other than `max_…` and `min_…`."""
    for name in sorted(set(NAME.findall(LITERAL.sub('""', code)))):
        words = [word.lower() for word in WORD.findall(name)]
        if BOUND.match(name) or any(REFUSED_IN_NAME.fullmatch(word) for word in words):
            yield name


def refused_messages(code):
    """Literals of more than one word with a refused word, and those with the refused prefix."""
    for text in LITERAL.findall(code):
        if REFUSED_PREFIX in text or (" " in text.strip() and REFUSED_IN_MESSAGE.search(text)):
            yield text


def code_problems(texts):
    """\\param texts: code of C++ or JavaScript by file"""
    for file, text in texts.items():
        code = re.sub(r"(^|\s)//.*", "", text)
        yield from (f"{file}: refused name: {name}" for name in refused_names(code))
        yield from (f'{file}: refused message: "{text}"' for text in refused_messages(code))


def test_names(file, text):
    if file.suffix == ".py":
        return TEST_FUNCTION.findall(text)
    return ["".join(LITERAL.findall(case)) for case in TEST_CASE.findall(text)]


def test_name_problems(texts):
    """\\param texts: code of C++ or Python by file"""
    for file, text in texts.items():
        for name in test_names(file, text):
            if REFUSED_IN_TEST_NAME.search(name):
                yield f"{file}: refused name of a test: {name}"


def problems_of(part, texts):
    """\\param texts: blocks by file"""
    count = pronouns = 0
    for file, blocks in texts.items():
        for sentence in sentences(blocks):
            count += 1
            pronouns += len(PRONOUN.findall(sentence))
            for word in REFUSED.findall(sentence):
                yield f'{file}: "{word}" in: {sentence}'
    rate = pronouns / count if count else 0
    if rate > PRONOUNS_A_SENTENCE:
        yield (f"{part}: {rate:.2f} relative pronouns a sentence, more than "
               f"{PRONOUNS_A_SENTENCE}")


def read(files):
    return {file: file.read_text(encoding="utf-8") for file in sorted(files)}


def comments_elsewhere(root):
    """Comments by file: those of C++ sources, and those of Python, shell, CMake and YAML."""
    files = [file for folder in FOLDERS for file in (root / folder).rglob("*")
             if file.is_file() and not any(file.is_relative_to(root / data) for data in DATA)]
    files.append(root / "CMakeLists.txt")
    sources = [file for file in files if file.suffix in (".cpp", ".hpp", ".c")]
    programs = [file for file in files if file.suffix == ".py"]
    scripts = [file for file in files if file.suffix in (".cmake", ".in", ".sh", ".yaml")
               or file.name == "CMakeLists.txt" or file.parent == root / "scripts"]
    return ({file: cpp_comments(text) for file, text in read(sources).items()},
            {file: python_comments(text) for file, text in read(programs).items()}
            | {file: script_comments(text) for file, text in read(scripts).items()})


def prefix_problems(texts):
    """\\param texts: whole documents by file"""
    for file, text in texts.items():
        if REFUSED_PREFIX in text:
            yield f"{file}: refused prefix: {REFUSED_PREFIX}"


def problems(root):
    headers = [file for pattern in ("*.hpp", "*.ipp")
               for file in (root / "include/k8s_sd").rglob(pattern)]
    private = [file for file in headers if "detail" in file.parts]
    public = [file for file in headers if "detail" not in file.parts]
    documents = [file for pattern in ("docs/**/*.md", "*.md", "bench/**/*.md", "examples/**/*.md")
                 for file in root.glob(pattern) if file.name != HISTORY]
    yield from problems_of("docstrings of public headers",
                           {f: comment_blocks(t, "///") for f, t in read(public).items()})
    yield from problems_of("comments of private headers",
                           {f: comment_blocks(t, "//+") for f, t in read(private).items()})
    sources, scripts = comments_elsewhere(root)
    code = [file for pattern in ("*.hpp", "*.cpp", "*.js")
            for file in (root / "src").rglob(pattern)]
    yield from code_problems(read([*headers, *code]))
    tests = [file for pattern in ("*.hpp", "*.cpp", "*.py")
             for file in (root / "tests").rglob(pattern)]
    yield from test_name_problems(read(tests))
    yield from problems_of("comments of programs, tests and benchmarks", sources)
    yield from problems_of("comments of Python, shell, CMake and YAML", scripts)
    yield from problems_of("documents", {f: paragraphs(t) for f, t in read(documents).items()})
    yield from prefix_problems(read(documents))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    root = pathlib.Path(sys.argv[1]).resolve()
    found = [problem.replace(f"{root}/", "") for problem in problems(root)]
    print("\n".join(found))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
