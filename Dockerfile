# The workflow with the pinned packages; docs/running.md says how it is run.
FROM python:3.11-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends git \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /gblsr
COPY envs/lock.txt .
RUN pip install --no-cache-dir --require-hashes --requirement lock.txt
COPY . .
RUN pip install --no-cache-dir --no-deps --editable .
ENTRYPOINT ["snakemake"]
CMD ["--cores", "all", "--configfile", "config/demo.yaml", "--", "all"]
