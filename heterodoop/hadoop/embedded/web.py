"""Small HTTP requests to Hadoop's servers on this machine; never through a proxy, redirects not followed.

Not here: what to ask (`ready`).
"""

from __future__ import annotations

import http.client
import json
from typing import Any

_SECONDS = 5.0


def get_json(port: int, path: str) -> Any:
    """The answer to GET. Raises OSError or ValueError: nobody there, another status than 200, no JSON."""
    return json.loads(request(port, "GET", path))


def request(port: int, method: str, path: str) -> bytes:
    """The body of an answer with status 200. Raises OSError for anything else."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_SECONDS)
    try:
        connection.request(method, path, headers={"Accept": "application/json"})
        answer = connection.getresponse()
        body = answer.read()
    except http.client.HTTPException as error:
        raise OSError(f"{method} {path}: {error!r}") from None
    finally:
        connection.close()
    if answer.status != 200:
        raise OSError(f"{method} {path}: HTTP status {answer.status}: {body[:500].decode('utf-8', 'replace')}")
    return body
