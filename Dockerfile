# instar in a container.
#   CPU:   docker build -t instar .
#   CUDA:  docker build -t instar:cuda --build-arg BASE=nvidia/cuda:12.6.3-cudnn-runtime-ubuntu24.04 --build-arg EXTRAS=torch,workbench --build-arg ONNXRUNTIME=onnxruntime-gpu .
#   docker run --rm -v "$PWD:/data" instar run --system yolox-nano --scenes photos --out runs/yolox
ARG BASE=python:3.12-slim
FROM ${BASE}
ARG EXTRAS=workbench
ARG ONNXRUNTIME=onnxruntime
RUN command -v python3 >/dev/null && python3 -m venv --help >/dev/null 2>&1 \
    || (apt-get update && apt-get install --yes --no-install-recommends python3 python3-venv && rm -rf /var/lib/apt/lists/*)
RUN python3 -m venv /opt/instar
ENV PATH=/opt/instar/bin:$PATH PYTHONUNBUFFERED=1 INSTAR_MODELS=/models
COPY pyproject.toml README.md LICENSE /source/
COPY src /source/src
COPY weights /source/weights
RUN pip install --no-cache-dir "/source[${EXTRAS}]" /source/weights \
    && if [ "$ONNXRUNTIME" != onnxruntime ]; then pip uninstall --yes onnxruntime && pip install --no-cache-dir "$ONNXRUNTIME"; fi \
    && rm -rf /source
RUN useradd --create-home instar && mkdir /models && chown instar /models
USER instar
WORKDIR /data
ENTRYPOINT ["instar"]
