"""The same within asyncio, beside other tasks.  Usage: pods_asyncio.py [URL]"""

import asyncio
import sys

import k8s_sd


async def main() -> None:
    config = {"role": "pod"}
    if len(sys.argv) > 1:
        config["api_server"] = sys.argv[1]
    with k8s_sd.discover(config) as stream:
        async for diff in stream:
            print(f"{'complete state' if diff.full else 'change'}: {len(diff.changes)} pods",
                  flush=True)


asyncio.run(main())
