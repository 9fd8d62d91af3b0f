# Scorebox with its embedded PostgreSQL, as a user without rights. Data lives in the volume.
FROM python:3.11-slim

RUN useradd --create-home --uid 10001 scorebox \
    && install -d -o scorebox -g scorebox /data

WORKDIR /app
COPY requirements.lock pyproject.toml README.md ./
RUN pip install --no-cache-dir --require-hashes -r requirements.lock
COPY . .
RUN pip install --no-cache-dir --no-deps --no-build-isolation --editable .

USER scorebox
ENV SCOREBOX_DATA=/data SCOREBOX_HOST=0.0.0.0 SCOREBOX_PORT=8765 SCOREBOX_LOG_FORMAT=json
VOLUME /data
EXPOSE 8765
STOPSIGNAL SIGTERM
# Asks itself on loopback, so under TLS the name on the certificate is not looked at.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
    CMD ["python", "-c", "import os, ssl, urllib.request; tls = bool(os.environ.get('SCOREBOX_TLS_CERTIFICATE')); urllib.request.urlopen(f\"{'https' if tls else 'http'}://127.0.0.1:{os.environ['SCOREBOX_PORT']}/health/ready\", timeout=2, context=ssl._create_unverified_context() if tls else None)"]
CMD ["scorebox", "serve"]
