"""A download that is killed at any moment goes on, and asks only for what is still missing."""

import time

import numpy as np
from data_server import serve

from gblsr_repro.data.download import download_file, open_session

CONTENT = np.random.default_rng(0).bytes(2_000_000)


def fetch(url, target):
    session = open_session()
    session.trust_env = False  # this machine is reached without a proxy
    download_file(session, [url], target, 10**7, lambda url, part: None)


def test_killed_download(processes, repeats, chance, tmp_path):
    """SIGKILL at random moments; every next attempt asks only for what is still missing."""
    with serve() as server:
        server.content["/file"] = CONTENT
        url = f"{server.url}/file"
        for number in range(repeats):
            target = tmp_path / str(number) / "file"
            part = target.with_name(".file.part")
            for _ in range(3):
                server.cut["/file"] = [chance.randrange(100_000) for _ in range(3)]
                process = processes.Process(target=fetch, args=(url, target))
                process.start()
                while not part.exists() and process.is_alive():
                    time.sleep(0.001)
                process.join(chance.uniform(0, 0.5))
                process.kill()
                process.join()
                assert not target.exists() or target.read_bytes() == CONTENT
            server.cut["/file"] = []
            already = part.stat().st_size if part.exists() else 0
            server.asked.clear()
            fetch(url, target)
            assert server.asked == [("/file", f"bytes={already}-" if already else None)]
            assert target.read_bytes() == CONTENT
            assert [p.name for p in target.parent.iterdir()] == ["file"]
