"""TensorZero's gateway in Rust, as its Python package has it: an HTTP server inside this process.

Argument: the configuration file, which names the address.
"""

import sys

from tensorzero.tensorzero import _start_http_gateway

gateway = _start_http_gateway(
    config_file=sys.argv[1],
    clickhouse_url=None,
    postgres_url=None,
    valkey_url=None,
    async_setup=False,
)
print("listens on", gateway.base_url.removesuffix("/openai/v1"), flush=True)
sys.stdin.read()
gateway.close()
