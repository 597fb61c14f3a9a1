import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';

interface Export {
  path: string;
  headers: http.IncomingHttpHeaders;
  /** Protobuf; its strings are readable. */
  text: string;
}

const PATIENCE_MS = 40_000;

describe("the operator's collector", () => {
  const exports: Export[] = [];
  let collector: http.Server;
  let gateway: BootedGateway;

  beforeAll(async () => {
    collector = http.createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const text = Buffer.concat(chunks).toString('latin1');
        exports.push({ path: request.url ?? '', headers: request.headers, text });
        response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
      });
    });
    await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
    const { port } = collector.address() as AddressInfo;
    gateway = await bootGateway({
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=key%201',
      OTEL_SERVICE_NAME: 'gateway-of-ours',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
      OTEL_METRIC_EXPORT_INTERVAL: '500',
    });
  });
  afterAll(async () => {
    await gateway.close();
    await new Promise((resolve) => collector.close(resolve));
  });

  async function exported(path: string, needle: string): Promise<Export> {
    for (let waitedMs = 0; waitedMs < PATIENCE_MS; waitedMs += 50) {
      const found = exports.find((each) => each.path === path && each.text.includes(needle));
      if (found) return found;
      await wait(50);
    }
    throw new Error(`no ${needle} at ${path}`);
  }

  it('gets a span for each request and metrics, with its headers and resource', async () => {
    const response = await gateway.post('/v1/chat/completions', {
      model: 'sandbox/echo',
      messages: [{ role: 'user', content: 'the secret prompt' }],
      trace: { trace_name: "the caller's own name" },
    });
    await response.text();
    const traces = await exported('/v1/traces', response.headers.get('x-request-id')!);
    expect(traces.headers).toMatchObject({
      'content-type': 'application/x-protobuf',
      'x-collector-key': 'key 1',
    });
    for (const word of [
      'gateway-of-ours',
      'deployment.environment.name',
      'chat sandbox/echo',
      'attempt sandbox/echo via sandbox',
      'gen_ai.provider.name',
      gateway.tenantId,
    ]) {
      expect(traces.text).toContain(word);
    }
    for (const secret of ['secret prompt', "the caller's own name", gateway.apiKey]) {
      expect(traces.text).not.toContain(secret);
    }
    const metrics = await exported('/v1/metrics', 'gateway_requests_total');
    expect(metrics.headers['x-collector-key']).toBe('key 1');
    expect(metrics.text).toContain('gateway_request_seconds');
    expect(metrics.text).not.toContain(gateway.tenantId);
  });
});
