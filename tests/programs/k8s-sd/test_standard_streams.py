"""Programs whose standard streams are closed do not use other files in their place."""

import gzip
import os
import signal
import subprocess
import tempfile
import unittest

import harness
from harness import TIMEOUT


def started(redirections, program, *arguments, **streams):
    command = harness.command(program, arguments)
    return subprocess.Popen(["sh", "-c", f'exec "$@" {redirections}', "sh", *command], text=True,
                            env=harness.environment(), **streams)


class ClosedStreams(unittest.TestCase):
    def test_a_service_needs_neither_input_nor_output(self):
        with started("<&- >&-", "k8s-sd", "--sim", "--listen", "127.0.0.1:0",
                     stderr=subprocess.PIPE) as program:
            self.assertTrue(any("its list is complete" in line for line in program.stderr))
            program.send_signal(signal.SIGTERM)
            self.assertEqual(program.wait(TIMEOUT), 0)

    def test_log_lines_go_into_no_file_and_no_pipe_of_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "recording")
            with started("<&- 2>&-", "discover", "--sim", "--once", "--output", "quiet",
                         "--log-level", "debug", "--record", path,
                         stdout=subprocess.PIPE) as program:
                self.assertIn("synced ", program.stdout.read())
                self.assertEqual(program.wait(TIMEOUT), 0)
            with gzip.open(path) as recording:  # other bytes are an error
                self.assertIn(b"\nGET /api/v1/pods?", recording.read())


if __name__ == "__main__":
    unittest.main()
