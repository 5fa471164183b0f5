# A service of models (widemargin serve). The steps are those of docker/build.sh, which also runs without Docker.
#
#   docker build -t widemargin .
#   docker run -p 8000:8000 -e WIDEMARGIN_TOKEN=... -v ./models:/models:ro widemargin /models/tickets.wm
FROM python:3.12-slim AS build
RUN apt-get update && apt-get install --yes --no-install-recommends g++ && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN docker/build.sh wheel /wheels
RUN docker/build.sh install /wheels /opt/widemargin
RUN docker/build.sh check /opt/widemargin

FROM python:3.12-slim
RUN useradd --system --no-create-home --uid 10001 widemargin
COPY --from=build /opt/widemargin /opt/widemargin
COPY docker/build.sh /opt/widemargin/bin/build.sh
ENV PATH=/opt/widemargin/bin:$PATH
USER widemargin
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s CMD ["build.sh", "healthy", "http://127.0.0.1:8000/"]
STOPSIGNAL SIGTERM
# Other machines ask, so a token is needed: WIDEMARGIN_TOKEN, or --token-file.
ENTRYPOINT ["widemargin", "serve", "--host", "0.0.0.0", "--port", "8000"]
CMD ["/models/model.wm"]
