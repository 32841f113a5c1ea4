"""The same within asyncio, beside other tasks.  Usage: pods_asyncio.py [URL]"""

import asyncio
import sys

import k8s_sd


async def main():
    server = {"api_server": sys.argv[1]} if len(sys.argv) > 1 else {}
    with k8s_sd.discover(role="pod", **server) as stream:
        async for diff in stream:
            print(f"{'complete state' if diff.full else 'change'}: {len(diff.changes)} pods",
                  flush=True)


asyncio.run(main())
