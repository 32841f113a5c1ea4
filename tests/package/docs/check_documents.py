#!/usr/bin/env python3
"""Checks the documents: that links and paths lead to files, that the answers of "Where is …?" are
true, that each C++ block is compiled, and that lines fit a terminal.

usage: check_documents.py PROJECT_DIRECTORY
"""
import pathlib
import re
import sys
import textwrap

LINK = re.compile(r"\]\(([^)#\s]*)(#[^)]*)?\)")
CPP_BLOCK = re.compile(r"^```cpp\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CMAKE_BLOCK = re.compile(r"^```cmake\n(.*?)^```$", re.MULTILINE | re.DOTALL)
REGION = re.compile(r"^ *//\[(\w+)\n(.*?)^ *//\]$", re.MULTILINE | re.DOTALL)
# A file or folder of the project in backticks; "<role>" stands for any name.
PATH = re.compile(r"`((?:\.github|bench|cmake|docs|examples|include|scripts|src|tests)/[^`\s]*)`")
COLUMNS = 100
WIDE_TABLES = {"failures.md"}  # names of tests cannot be broken
README_LINES = 155
# Code and tables of these documents may be wider.
WIDE = ("docs/programs/k8s-sd/*.md", "examples/**/*.md")
BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
# The questions of "Where is …?" in docs/internals/architecture.md: the files that answer each, and a text that
# shows that they do. Paths are below include/k8s_sd/; of the files of a pattern one has the text.
WHERE_IS = {
    "Who sets `__meta_kubernetes_pod_phase`?":
        {"detail/roles/pod.hpp": '"__meta_kubernetes_pod_phase"'},
    "What happens on 410?":
        {"detail/watch/outcome.ipp": "status.code == 410"},
    "When does a watch list again?":
        {"detail/watch/watch_machine.hpp": "Step relist(ListReason reason)"},
    "When does it list in pages?":
        {"detail/watch/list_plan.hpp": "void begin(bool most_recent, bool streamed)"},
    "In which form does it list next?":
        {"detail/watch/list_forms.hpp": "void begin(const Choice& choice)"},
    "How long may a watch be silent?":
        {"detail/watch/bookmark_patience.hpp": "Duration allowed() const"},
    "Who may list now? How many watches may be open?":
        {"detail/net/server_traffic.ipp": "ServerTraffic::try_watch_place()"},
    "When are many namespaces watched together?":
        {"detail/groups/watch_set.ipp": "cluster_wide_from"},
    "When does a change of the members of a fleet count?":
        {"detail/fleet/view_machine.ipp": "TimePoint ViewMachine::due_of("},
    "Which part of the cluster does a member discover?":
        {"detail/fleet/divided_discovery.ipp": "DividedDiscovery::part_of(",
         "detail/base/share_keys.hpp": "share_key_of("},
    "How does a view outlive a restart?":
        {"detail/fleet/kept_view.hpp": "void keep(const Digest& identity, FleetViewPtr);"},
    "Which member owns a target?":
        {"detail/fleet/fleet_view.ipp": "FleetView::owners(std::uint64_t key"},
    "What is a member, of an EndpointSlice?":
        {"detail/fleet/slice_members.ipp": "conditions.is_terminating()"},
    "How is a target handed over?":
        {"detail/scrape/built_group.ipp": "Duration handover_time("},
    "What is in a snapshot of targets?":
        {"detail/discovery/packed_groups.ipp": "shapes: count, then of each"},
    "What does a watcher tell its host?":
        {"detail/hosts/object_watch.ipp": "News take_news() override"},
    "How does a host read instead of being called?":
        {"detail/base/host_handle.hpp": "void read(ReaderPtr reader)"},
    "What does the server call a custom resource?":
        {"detail/hosts/resource_search.ipp": "void ResourceSearch::on_group"},
    "What is kept of an object of any resource?":
        {"detail/kinds/generic_content.ipp": "keep_content("},
    "In which form are objects kept?":
        {"detail/kinds/object_form.hpp": "struct ObjectForm {"},
    "How do threads read a store without waiting?":
        {"detail/stores/readers.hpp": "class Readers"},
    "Which header authenticates?":
        {"detail/net/api_client_impl.ipp": '"Authorization: "'},
    "What is the longest backoff?":
        {"config.hpp": "Duration backoff_max = "},
    "Why does a pod change an EndpointSlice's group?":
        {"detail/groups/dependency_graph.hpp": "void set_dependencies("},
    "Which fields of a kind are read? How do I add a kind?":
        {"detail/kinds/<kind>.hpp": 'Row<&S::phase>{"phase", 1, Use::labels}'},
    "How do I add a role?":
        {"detail/roles/<role>.hpp": "static void generate(const PodObject& pod"},
    "Which encoding is asked for, and when is it JSON?":
        {"detail/watch/encoding_choice.hpp": "longest_pause = "},
    "How do I add an encoding?":
        {"detail/codec/decoder.hpp": "class Decoder {"},
    "Which address of a name is connected to?":
        {"detail/net/address_race.ipp": "attempt_delay = "},
    "In which steps is a server connected to?":
        {"detail/net/connect_op.hpp": "class ConnectOp "},
    "Which proxy is used?":
        {"detail/config/proxy_choice.ipp": "std::string proxy_of_environment("},
    "What is said to a proxy?":
        {"detail/net/http_connect.ipp": "CleansedBytes connect_request(",
         "detail/net/socks5.ipp": "CleansedBytes connect_message("},
    "In what do the dialects differ?":
        {"detail/base/dialect_rules.hpp": "struct DialectRules {"},
    "What does an error message say?":
        {"detail/watch/failure.ipp": "grant it with a rule of a "},
    "Who may list now? How many watches may be open?":
        {"detail/net/server_traffic.ipp": "Place ServerTraffic::try_watch_place()"},
    "Is a server asked for a share, or for everything?":
        {"detail/watch/share_choice.hpp": "bool sends() const"},
    "When are many namespaces watched together?":
        {"detail/groups/watch_plan.ipp": "cluster_wide_from_"},
    "What does a configuration have to be allowed?":
        {"detail/groups/required_access.ipp": "needed_kinds(role, attach)"},
    "In which version is an API asked for?":
        {"detail/net/served_versions.ipp": "void ServedVersions::ask("},
    "Who calls the host's callback, and when?":
        {"detail/base/delivery.ipp": "source->tell_next("},
    "What does a new configuration of a job keep?":
        {"detail/discovery/job_state.ipp": "void JobState::configure("},
    "Where can the targets of a provider come from?":
        {"detail/discovery/target_feed.ipp": "make_feed("},
    "What does a list of targets look like?":
        {"detail/discovery/target_list.ipp": "class JsonListReader"},
    "When are the files of targets read?":
        {"detail/discovery/file_targets.ipp": "void FileTargets::look_later("},
    "When is a URL asked for targets?":
        {"detail/discovery/http_targets.ipp": "HttpTargets::wait_after_failure("},
    "Which watch serves an object of an `ObjectCache`?":
        {"detail/cache/served_entries.ipp": "ServedEntries::change_over_if_agreed(",
         "detail/cache/collection_policy.hpp": "Action::join"},
    "What does a relabelling rule do?":
        {"detail/relabel/relabel_rule.ipp": "bool CompiledRule::apply("},
    "Which fields may a relabelling rule have?":
        {"detail/relabel/relabel_validate.ipp": ".required = target_label"},
    "Which patterns need no regular expression?":
        {"detail/relabel/pattern.ipp": "SimplePattern::parse("},
    "Which labels has a target before relabelling?":
        {"detail/scrape/prepared_job.ipp": "void append_discovered("},
    "How does a discovered target become a scrape target?":
        {"detail/scrape/target_builder.ipp": "TargetBuilder::build("},
    "When is a scrape target started or stopped?":
        {"detail/scrape/target_pool.ipp": "handler_->start("},
    "Which keys of a scrape configuration are read?":
        {"detail/scrape/scrape_config_yaml.ipp": '"scrape_interval"'},
    "Which of its keys are known and ignored?":
        {"detail/scrape/scrape_config_keys.hpp": '"remote_write"'},
}


def text_of(path):
    return path.read_text(encoding="utf-8")


def anchors(document):
    """The anchors GitHub makes of a document's headings."""
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
    wide_tables = wide or document.name in WIDE_TABLES
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > COLUMNS and not (wide_tables and line.startswith("| ")):
            yield f"{document}:{number}: {len(line)} columns, more than {COLUMNS}"


def compiled_code(root):
    """The permitted C++ blocks: an example, a snippet, or the regions of one name in such a file."""
    code = set()
    for source in [*root.glob("examples/**/*.cpp"), *root.glob("docs/snippets/**/*.[ch]pp")]:
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
            yield (f"{document}: the C++ block that begins with '{first}' is no region of a file "
                   "in docs/snippets/ and no example")


def files_of(path, root):
    return list(root.glob(re.sub(r"<\w+>", "*", path).rstrip("/")))


def missing_paths(document, root):
    for path in PATH.findall(text_of(document)):
        if not files_of(path, root):
            yield f"{document}: {path} does not exist"


def answers_of(document):
    """Each question of "Where is …?" with the paths of its answer."""
    section = text_of(document).partition("\n## Where is …?\n")[2].partition("\n## ")[0]
    for item in re.split(r"^\* ", section, flags=re.MULTILINE)[1:]:
        question, _, answer = " ".join(item.split()).partition(" →")
        yield question, PATH.findall(answer)


def wrong_answers(root):
    document = root / "docs/internals/architecture.md"
    answers = dict(answers_of(document))
    for question in answers.keys() ^ WHERE_IS.keys():
        yield f"{document}: '{question}' is not both in the page and in WHERE_IS of the check"
    for question in answers.keys() & WHERE_IS.keys():
        texts = {f"include/k8s_sd/{path}": text for path, text in WHERE_IS[question].items()}
        if sorted(answers[question]) != sorted(texts):
            yield f"{document}: '{question}' names other files than WHERE_IS of the check"
        for path, text in texts.items():
            if not any(text in text_of(file) for file in files_of(path, root)):
                yield f"{document}: '{question}': {path} does not have '{text}'"


def tutorial_problems(root):
    """The tutorial shows its CMakeLists.txt and its headers as they are."""
    page = text_of(root / "docs/guide/tutorial.md")
    folder = root / "docs/snippets/tutorial"
    files = [folder / "CMakeLists.txt", *folder.glob("**/*.[ch]pp")]
    blocks = {block.strip() for block in CMAKE_BLOCK.findall(page) + CPP_BLOCK.findall(page)}
    for file in files:
        if text_of(file).strip() not in blocks:
            yield f"docs/guide/tutorial.md does not show {file.relative_to(root)}"


def readme_problems(root):
    readme = text_of(root / "README.md")
    if f"```cpp\n{text_of(root / 'examples/minimal.cpp').strip()}\n```" not in readme:
        yield "README.md does not show examples/minimal.cpp as it is"
    if (lines := len(readme.splitlines())) > README_LINES:
        yield f"README.md has {lines} lines, more than {README_LINES}"


def main(project):
    root = pathlib.Path(project)
    wide = {document for pattern in WIDE for document in root.glob(pattern)}
    documents = [*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("examples/**/*.md")]
    code = compiled_code(root)
    problems = [*readme_problems(root), *tutorial_problems(root), *wrong_answers(root)]
    for document in sorted(documents):
        problems += broken_links(document)
        problems += long_lines(document, wide=document in wide)
        problems += blocks_not_compiled(document, code)
        problems += missing_paths(document, root)
    print(*problems, f"{len(documents)} documents, {len(problems)} problems", sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
