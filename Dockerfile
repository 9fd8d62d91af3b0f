# Scorebox with its embedded PostgreSQL, as a user without rights. Data lives in the volume.
FROM python:3.11-slim

RUN useradd --create-home --uid 10001 scorebox \
    && install -d -o scorebox -g scorebox /data

WORKDIR /app
COPY requirements.lock pyproject.toml README.md ./
RUN pip install --no-cache-dir --require-hashes -r requirements.lock
COPY config config
COPY gateway gateway
COPY migrations migrations
COPY runtime runtime
COPY sports sports
RUN pip install --no-cache-dir --no-deps --no-build-isolation --editable .

USER scorebox
ENV SCOREBOX_DATA=/data SCOREBOX_HOST=0.0.0.0 SCOREBOX_PORT=8765 SCOREBOX_LOG_FORMAT=json
VOLUME /data
EXPOSE 8765
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8765/health/ready', timeout=2)"]
CMD ["scorebox", "serve"]
