import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { listenAgain } from './listen-again.js';
import { decodeTraces, type DecodedSpan } from './otlp-json.js';
import { decodeJsonTraces } from './otlp-protobuf.js';

export interface ReceivedDelivery {
  headers: http.IncomingHttpHeaders;
  text: string;
  spans: DecodedSpan[];
  /** True when the receiver accepted it. */
  isAccepted: boolean;
}

/** How the receiver responds to a delivery. */
export type Reception = (response: http.ServerResponse) => void;

export interface TraceReceiver {
  url: string;
  deliveries: ReceivedDelivery[];
  /** The current behaviour; assign to replace it. */
  reception: Reception;
  /** Deliveries in progress, now and at most. */
  concurrency: { now: number; most: number };
  /** Waits for and returns all spans of a request's trace. */
  traceOf(requestId: string): Promise<DecodedSpan[]>;
  requestIds(): string[];
  close(): Promise<void>;
}

export const RECEPTIONS = {
  accept: (response) => void response.writeHead(200).end('{}'),
  fail: (response) => void response.writeHead(500).end(),
  refuse: (response) => void response.writeHead(410).end(),
  redirect: (response) => void response.writeHead(307, { location: '/elsewhere' }).end(),
  reset: (response) => void response.socket?.destroy(),
  hang: () => undefined,
  drip: (response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write('x'), 50);
    response.once('close', () => clearInterval(timer));
  },
} satisfies Record<string, Reception>;

const PATIENCE_MS = 40_000;

/** Starts a collector on a free loopback port that decodes every delivery. */
export async function startTraceReceiver(port = 0): Promise<TraceReceiver> {
  const deliveries: ReceivedDelivery[] = [];
  const concurrency = { now: 0, most: 0 };
  const server = http.createServer((request, response) => {
    concurrency.now++;
    concurrency.most = Math.max(concurrency.most, concurrency.now);
    response.once('close', () => concurrency.now--);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => undefined);
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      const isAccepted = receiver.reception === RECEPTIONS.accept;
      deliveries.push({ headers: request.headers, text, spans: decode(text), isAccepted });
      receiver.reception(response);
    });
  });
  await listenAgain(server, port);
  const spansOf = (requestId: string): DecodedSpan[] => {
    const spans = deliveries.flatMap((delivery) => delivery.spans);
    const root = spans.find((span) => span.attributes['gateway.request.id'] === requestId);
    if (!root) return [];
    return [root, ...spans.filter(({ parentSpanId }) => parentSpanId === root.spanId)];
  };
  const receiver: TraceReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`,
    deliveries,
    reception: RECEPTIONS.accept,
    concurrency,
    async traceOf(requestId) {
      for (let waitedMs = 0; waitedMs < PATIENCE_MS; waitedMs += 25) {
        const spans = spansOf(requestId);
        if (spans.length > 0) return spans;
        await wait(25);
      }
      throw new Error(`no trace of ${requestId}`);
    },
    requestIds: () => [
      ...new Set(
        deliveries
          .flatMap((delivery) => delivery.spans)
          .map(({ attributes }) => attributes['gateway.request.id'])
          .filter((id) => typeof id === 'string'),
      ),
    ],
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return receiver;
}

/** Decodes strictly, and checks that protobuf's messages can hold everything. */
function decode(text: string): DecodedSpan[] {
  const spans = decodeTraces(text);
  const held = JSON.stringify(decodeJsonTraces(text));
  for (const { name } of spans) {
    if (!held.includes(JSON.stringify(name))) throw new Error(`protobuf does not hold ${name}`);
  }
  return spans;
}
