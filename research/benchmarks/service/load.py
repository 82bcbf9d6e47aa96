"""Requests as fast as they are answered, by wrk: how many a second, and how long each takes.

wrk (Debian has it) is one thread of C with a body for every request from a few lines of Lua, so
that the server is what limits; each connection sends its next request when it has the answer to
its last.
"""

import json
import math
import os
import shutil
import subprocess
import tempfile
from http import HTTPStatus
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple

import click

POLICY = "/v1/policies/visits"
_SCRIPT = """
local kind, prefix, most, rows = ARGUMENTS
local number = 0
local field = { decide = "decisions", reward = "rewards" }
local headers = { ["Content-Type"] = "application/json" }
local path = "/v1/policies/visits/" .. kind .. (rows > 1 and "/batch" or "")

local function write_row()
  number = number % most + 1
  local id = '{"id":"' .. prefix .. number
  if kind == "reward" then return id .. '","reward":' .. number % 2 .. "}" end
  local place = math.floor(number / 2) % 2
  return id .. '","context":{"U1":' .. number % 2 .. ',"U2":' .. place .. "}}"
end

request = function()
  local body
  if rows > 1 then
    local parts = {}
    for i = 1, rows do parts[i] = write_row() end
    body = '{"' .. field[kind] .. '":[' .. table.concat(parts, ",") .. "]}"
  else
    body = write_row()
  end
  return wrk.format("POST", path, headers, body)
end

done = function(summary, latency, requests)
  local errors = summary.errors
  local bad = errors.connect + errors.read + errors.write + errors.timeout
  io.write(string.format(
    '\\nFOUND {"requests": %d, "seconds": %f, "refused": %d, "broken": %d, ' ..
    '"p50": %f, "p99": %f}\\n',
    summary.requests, summary.duration / 1e6, errors.status, bad,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3))
end
"""


class NoWrk(Exception):
    """wrk is not installed."""


class Load(NamedTuple):
    """What to send: kind of request, rows in each, over so many connections."""

    kind: str
    rows: int
    connections: int


class Measured(NamedTuple):
    """Rows a second that were answered well, and how long requests took, in milliseconds.

    ``cost`` is what a row took of the server's processor, in microseconds: beside other work on
    the machine it is steadier than any time.
    """

    rows: float
    cost: float
    p50: float
    p99: float
    refused: int
    sent: int


class Server(NamedTuple):
    """A server that runs: its name in the table, its port and its process."""

    name: str
    port: int
    pid: int

    def read_cpu(self) -> float:
        """How many seconds of a processor it has taken."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def send(server: Server, load: Load, prefix: str, most: int, seconds: int) -> Measured:
    """Send requests for some seconds, with ids of ``prefix`` and numbers up to ``most``."""
    if shutil.which("wrk") is None:
        raise NoWrk
    values = f'"{load.kind}", "{prefix}", {most}, {load.rows}'
    begun = server.read_cpu()
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write(_SCRIPT.replace("ARGUMENTS", values))
        script.flush()
        ran = subprocess.run(
            ["wrk", "-t1", f"-c{load.connections}", f"-d{seconds}s", "--timeout", "30s",
             "-s", script.name, f"http://127.0.0.1:{server.port}/"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
    found: dict[str, Any] = json.loads(ran.stdout.rpartition("FOUND ")[2])
    if found["broken"]:
        click.echo(f"  {found['broken']} connections broke at {load}", err=True)
    sent = found["requests"] * load.rows
    good = sent - found["refused"] * load.rows
    cost = 1e6 * (server.read_cpu() - begun) / good if good else math.inf
    rate = max(good, 1) / found["seconds"]
    return Measured(rate, cost, found["p50"], found["p99"], found["refused"], sent)


def decide_ahead(port: int, prefix: str, first: int, last: int, rows: int = 1000) -> None:
    """Make decisions that rewards will be told of; those that are there already stay."""
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"Content-Type": "application/json"}
    for start in range(first, last + 1, rows):
        body = [
            {"id": f"{prefix}{i}", "context": {"U1": i % 2, "U2": i // 2 % 2}}
            for i in range(start, min(start + rows, last + 1))
        ]
        text = json.dumps({"decisions": body})
        connection.request("POST", f"{POLICY}/decide/batch", text, headers)
        answer = connection.getresponse()
        said = answer.read()
        if answer.status != HTTPStatus.OK:
            raise RuntimeError(said.decode())
    connection.close()
