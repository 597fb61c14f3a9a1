import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { Logger } from '@nestjs/common';
import { Registry } from 'prom-client';
import { startExporters } from '../../src/core/tracing/operator-exporters.js';
import type { SpanDraft } from '../../src/core/tracing/span-draft.js';
import { until } from '../support/until.js';

const SPAN: SpanDraft = {
  traceId: 'a'.repeat(32),
  spanId: 'b'.repeat(16),
  isParentRemote: false,
  name: 'chat',
  kind: 'server',
  startMs: 1,
  endMs: 2,
  attributes: {},
};

/** Records log lines instead of printing them. */
class ListeningLogger extends Logger {
  readonly lines: string[] = [];

  override warn(line: string): void {
    this.lines.push(line);
  }

  override log(line: string): void {
    this.lines.push(line);
  }
}

describe("the operator's exporters", () => {
  let status = 404;
  let collector: http.Server;
  let origin: string;

  beforeAll(async () => {
    collector = http.createServer((request, response) => {
      request.resume().on('end', () => response.writeHead(status).end());
    });
    await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise((resolve) => collector.close(resolve)));

  it('log when the collector refuses traces and metrics, and when it accepts them again', async () => {
    const logger = new ListeningLogger();
    const exporters = startExporters(
      {
        tracesUrl: `${origin}/v1/traces`,
        metricsUrl: `${origin}/v1/metrics`,
        tracesHeaders: {},
        metricsHeaders: {},
        metricsIntervalMs: 50,
        sampler: { followsParent: true, ratio: 1 },
        resource: {},
      },
      new Registry(),
      logger,
    );
    const hasLogged = (words: string) => () => logger.lines.some((line) => line.includes(words));
    await until(hasLogged('metrics failing: Not Found'));
    status = 200;
    await until(hasLogged('metrics recovered'));
    status = 404;
    exporters.exportSpans!([SPAN]);
    await exporters.stop();
    expect(logger.lines).toEqual([
      'OpenTelemetry export of metrics failing: Not Found',
      'OpenTelemetry export of metrics recovered',
      expect.stringContaining('failing'),
      expect.stringContaining('failing'),
    ]);
    expect(hasLogged('traces failing: Not Found')()).toBe(true);
  });
});
