"""LiteLLM's proxy on a port of loopback: says when it listens, ends with the process that started it.

Arguments: the configuration file, the port.
"""

import os
import socket
import sys
import threading
import time

from litellm import run_server

config, port = sys.argv[1:3]


def end_with_parent() -> None:
    sys.stdin.read()
    os._exit(0)


def say_when_listening() -> None:
    while True:
        try:
            socket.create_connection(("127.0.0.1", int(port)), 1).close()
            break
        except OSError:
            time.sleep(0.1)
    print(f"listens on http://127.0.0.1:{port}", flush=True)


for work in (end_with_parent, say_when_listening):
    threading.Thread(target=work, daemon=True).start()
sys.argv = ["litellm", "--config", config, "--host", "127.0.0.1", "--port", port]
sys.argv += ["--num_workers", "1", "--telemetry", "False"]
run_server()
