#!/usr/bin/env python3
"""Checks the documents: links and paths lead to files, the rows of "Where is …?" and of "Ten places"
are true, each block in C++ or C is compiled, each one in Python parses, pages show their programs
as they are, and lines fit a terminal.

usage: check_documents.py PROJECT_DIRECTORY
"""
import ast
import pathlib
import re
import sys
import textwrap

LINK = re.compile(r"\]\(([^)#\s]*)(#[^)]*)?\)")
CPP_BLOCK = re.compile(r"^```(?:cpp|c)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PYTHON_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CMAKE_BLOCK = re.compile(r"^```cmake\n(.*?)^```$", re.MULTILINE | re.DOTALL)
REGION = re.compile(r"^ *//\[(\w+)\n(.*?)^ *//\]$", re.MULTILINE | re.DOTALL)
# A file or folder of the project in backticks; "<role>" stands for any name.
PATH = re.compile(r"`((?:\.github|bench|cmake|docs|examples|include|scripts|src|tests)/[^`\s]*)`")
COLUMNS = 100
# Names of tests, and rows of tables in the code, cannot be broken.
WIDE_TABLES = {"failures.md", "labels.md", "metrics.md"}
README_LINES = 120
# Pages, and the programs that they show.
SHOWN = (("README.md", "examples/minimal.cpp"), ("docs/guide/c-interface.md", "examples/c/pods.c"),
         ("docs/guide/python.md", "examples/c/pods.py"),
         ("docs/guide/python.md", "examples/c/pods_asyncio.py"))
# Code and output in these documents may be wider.
WIDE = ("docs/programs/k8s-sd/*.md",)
BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
# Tables of docs/internals/architecture.md: the files of each subject, and a text that confirms the
# row. Paths are below DETAIL; one file of a pattern has the text.
DETAIL = "include/k8s_sd/detail/"
WHERE_IS = {
    "labels of a role, such as `__meta_kubernetes_pod_phase`; a new kind or role":
        {"kinds/<kind>.hpp": '"__meta_kubernetes_pod_phase"'},
    "meaning of a response, such as 410":
        {"watch/outcome.ipp": "error.code == 410"},
    "texts of error messages":
        {"watch/failure.ipp": "grant it with a rule of a "},
    "when a watch lists again":
        {"watch/watch_machine.hpp": "Step relist(ListReason reason)",
         "watch/watch_failures.hpp": "bool too_often("},
    "pauses and silence of a watch":
        {"watch/pacing.hpp": "Duration before_list(TimePoint now)",
         "watch/watch_idle_timeout.hpp": "Duration allowed() const"},
    "pages, resource version and form of a list":
        {"watch/list_plan.hpp": "void begin(bool most_recent, bool streamed)",
         "watch/list_forms.hpp": "void begin(const Choice& choice)"},
    "protobuf or JSON":
        {"watch/form_choices.hpp": "max_pause = "},
    "exchange and objects of a watch":
        {"watch/watch_exchange.ipp": "Failure WatchExchange::finish(",
         "watch/watch_intake.ipp": "bool WatchIntake::is_one_too_many("},
    "limits on the use of a server":
        {"client/server_traffic.ipp": "limit_of_connects(",
         "async/permit_queue.ipp": "PermitQueue::next_queue()"},
    "choice of the proxy":
        {"config/proxy.ipp": "std::string proxy_of_environment("},
    "differences between the dialects, and between versions":
        {"base/dialect_rules.hpp": "struct DialectRules {"},
    "dependencies of target groups":
        {"groups/dependency_graph.hpp": "void set_dependencies("},
    "shared watches, one watch for many namespaces":
        {"sharing/watch_plan.ipp": "cluster_wide_from_"},
    "required RBAC rules":
        {"access/required_access.ipp": "needed_kinds(role, attach)"},
    "calls of the host's callback":
        {"async/delivery.ipp": "source->deliver_next("},
    "[jobs of a changed group](target-filters.md)":
        {"discovery/filter_index.ipp": "bool FilterIndex::find("},
    "effect of a new configuration on a job":
        {"discovery/job_state.ipp": "void JobState::configure("},
    "single and collection watches of an `ObjectCache`":
        {"cache/cache_collection.hpp": "Action::join"},
    "lock-free readers of a store":
        {"stores/published.hpp": "class Readers"},
    "effect of a relabelling rule":
        {"relabel/relabel_rule.ipp": "bool CompiledRule::apply("},
    "from a discovered to a scrape target":
        {"scrape/target_builder.ipp": "TargetBuilder::build("},
    "start and stop of scrape targets":
        {"scrape/target_pool.ipp": "TargetTransition transition;",
         "scrape/target_news.hpp": "handler_->start("},
    "keys of a scrape configuration":
        {"scrape/scrape_config_yaml.ipp": '"scrape_interval"'},
    "when a change of a fleet takes effect":
        {"fleet/view_machine.ipp": "TimePoint ViewMachine::due_of("},
    "owner of a target":
        {"fleet/fleet_view.ipp": "FleetView::owners(std::uint64_t key"},
}
TEN_PLACES = {
    "Which port has an `instance` without one?":
        {"scrape/target_url.ipp": '":443" : ":80"'},
    "Which servers does `NO_PROXY` exclude?":
        {"config/proxy.ipp": "bool is_reached_directly("},
    "When does the delivery of a job's diff end?":
        {"discovery/discovery_manager.ipp": "void end_delivery("},
    "How long does a vanished member of a fleet count?":
        {"fleet/view_machine.ipp": "rules_.hold_down"},
    "Which of two keys with one label name wins?":
        {"labels/label_shape.hpp": "void hide_collisions("},
    "Which watch is shared?":
        {"sharing/watch_plan.ipp": "plan_watches("},
    "How long may a token file take?":
        {"async/file_reader.ipp": "max_file_read_time = "},
    "Which lines does `discover --check` print?":
        {"access/access_check.ipp": 'begin("credentials")'},
    "Which `User-Agent` is sent?":
        {"text/user_agent.hpp": '"User-Agent: k8s_sd/"'},
    "Which code has an ERROR event with a reason only?":
        {"watch/outcome.ipp": "unsigned code_of_reason("},
}
# The headings of the tables, with their rows and the permitted number of rows.
TABLES = {"Where is …?": (WHERE_IS, 25), "Ten places": (TEN_PLACES, 10)}


def text_of(path):
    return path.read_text(encoding="utf-8")


def anchors(document):
    """The anchors that GitHub generates for a document's headings."""
    headings = re.findall(r"^#+ (.*)$", text_of(document), re.MULTILINE)
    return {"#" + re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


def broken_links(document):
    for path, anchor in LINK.findall(BLOCK.sub("", text_of(document))):
        if "://" in path:
            continue
        target = document.parent / path if path else document
        if not target.exists():
            yield f"{document}: {path} does not exist"
        elif anchor and anchor not in anchors(target):
            yield f"{document}: {path} has no heading {anchor}"


def long_lines(document, wide=False):
    text = text_of(document)
    if wide:
        text = BLOCK.sub(lambda block: "\n" * block[0].count("\n"), text)
    wide_tables = document.name in WIDE_TABLES
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > COLUMNS and not (wide_tables and line.startswith("| ")):
            yield f"{document}:{number}: {len(line)} columns, more than {COLUMNS}"


def compiled_code(root):
    """The permitted blocks: an example, a snippet, or the regions of one name in such a file."""
    code = set()
    for pattern in ("examples/**/*.cpp", "examples/**/*.c", "docs/snippets/**/*.[ch]pp",
                    "docs/snippets/**/*.c"):
        code |= compiled_code_of(root.glob(pattern))
    return code


def compiled_code_of(sources):
    code = set()
    for source in sources:
        code.add(text_of(source).strip())
        regions = {}
        for name, text in REGION.findall(text_of(source)):
            regions.setdefault(name, []).append(textwrap.dedent(text).strip("\n"))
        code.update("\n\n".join(parts).strip() for parts in regions.values())
    return code


def blocks_not_compiled(document, code):
    for block in CPP_BLOCK.findall(text_of(document)):
        if textwrap.dedent(block).strip() not in code:
            first = block.strip().splitlines()[0]
            yield (f"{document}: the block that begins with '{first}' is no region of a file in "
                   "docs/snippets/ and no example")


def wrong_python(document):
    for block in PYTHON_BLOCK.findall(text_of(document)):
        try:
            ast.parse(block)
        except SyntaxError as error:
            yield f"{document}: a block in Python: {error}"


def files_of(path, root):
    return list(root.glob(re.sub(r"<\w+>", "*", path).rstrip("/")))


def missing_paths(document, root):
    for path in PATH.findall(text_of(document)):
        if not files_of(path, root):
            yield f"{document}: {path} does not exist"


def answers_of(document, heading):
    """Each subject of a table with the paths of its row."""
    section = text_of(document).partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    rows = [line.strip().removesuffix("|").removeprefix("|").partition(" | ")
            for line in section.splitlines() if line.startswith("|")]
    for subject, _, files in rows[2:]:  # behind the heading and its line
        yield subject.strip(), re.findall(r"`([^`]+)`", files)


def wrong_answers(root, heading, expected, max_rows):
    document = root / "docs/internals/architecture.md"
    answers = dict(answers_of(document, heading))
    if len(answers) > max_rows:
        yield f"{document}: '{heading}' has {len(answers)} rows, more than {max_rows}"
    for subject in answers.keys() ^ expected.keys():
        yield f"{document}: '{subject}' is not both in '{heading}' and in the table of the check"
    for subject in answers.keys() & expected.keys():
        texts = expected[subject]
        if answers[subject] != list(texts):
            yield f"{document}: '{subject}' names other files than the table of the check"
        for path, text in texts.items():
            if not any(text in text_of(file) for file in files_of(DETAIL + path, root)):
                yield f"{document}: '{subject}': {path} does not have '{text}'"


def tutorial_problems(root):
    """The tutorial shows its CMakeLists.txt and its headers unchanged."""
    page = text_of(root / "docs/guide/tutorial.md")
    folder = root / "docs/snippets/tutorial"
    files = [folder / "CMakeLists.txt", *folder.glob("**/*.[ch]pp")]
    blocks = {block.strip() for block in CMAKE_BLOCK.findall(page) + CPP_BLOCK.findall(page)}
    for file in files:
        if text_of(file).strip() not in blocks:
            yield f"docs/guide/tutorial.md does not show {file.relative_to(root)}"


def readme_problems(root):
    for page, program in SHOWN:
        if f"\n{text_of(root / program).strip()}\n```" not in text_of(root / page):
            yield f"{page} does not show {program} as it is"
    readme = text_of(root / "README.md")
    if (lines := len(readme.splitlines())) > README_LINES:
        yield f"README.md has {lines} lines, more than {README_LINES}"


def main(project):
    root = pathlib.Path(project)
    wide = {document for pattern in WIDE for document in root.glob(pattern)}
    documents = [*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("examples/**/*.md")]
    code = compiled_code(root)
    problems = [*readme_problems(root), *tutorial_problems(root)]
    for heading, (expected, max_rows) in TABLES.items():
        problems += wrong_answers(root, heading, expected, max_rows)
    for document in sorted(documents):
        problems += broken_links(document)
        problems += long_lines(document, wide=document in wide)
        problems += blocks_not_compiled(document, code)
        problems += wrong_python(document)
        problems += missing_paths(document, root)
    print(*problems, f"{len(documents)} documents, {len(problems)} problems", sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
