import http from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { modelRow } from './gateway-process.mjs';
import { none, told } from './table.mjs';
import { CHAT, DESTINATIONS, OPT_IN, makeCaller, makeTracedBody } from './traced-calls.mjs';

const REQUESTS_PER_SECOND = 20;
/** Before and after the outage. */
const GOOD_SECONDS = 5;
/** The last of five attempts comes 15 s after the first. */
const SETTLE_LIMIT_MS = 60_000;
const POLL_MS = 500;

/**
 * Simulates unavailable collectors: one refuses connections, one responds with 503. Each trace of a
 * request during the run must arrive or count as dropped, at its destination and in the metrics.
 */
export async function runBroadcastOutage(soak) {
  const vendor = await soak.startVendor();
  const collectors = [await startCollector(), await startCollector()];
  for (const collector of collectors) soak.addServer(collector);
  const gateway = await soak.startGateway({
    providers: { bench: vendor.url },
    models: [modelRow('traced')],
    environment: { GATEWAY_ALLOW_PRIVATE_DESTINATIONS: 'true' },
  });
  const agent = new Agent();
  const call = makeCaller(gateway, agent);
  for (const { url } of collectors) await call(DESTINATIONS, { url });

  let sent = 0;
  const load = async (seconds) => {
    for (let left = seconds * REQUESTS_PER_SECOND; left > 0; left--) {
      await Promise.all([call(CHAT, makeTracedBody(), OPT_IN), wait(1000 / REQUESTS_PER_SECOND)]);
      sent++;
    }
  };
  const outageSeconds = soak.settings.streamSeconds;
  await load(GOOD_SECONDS);
  await collectors[0].refuse();
  collectors[1].fail();
  await load(outageSeconds);
  for (const collector of collectors) await collector.recover();
  await load(GOOD_SECONDS);

  const states = await settle(call, sent);
  const metrics = await (await request(`${gateway.url}/metrics`)).body.text();
  await agent.close();
  const delivered = total(metrics, 'gateway_broadcast_delivered_total');
  const dropped = total(metrics, 'gateway_broadcast_dropped_total');
  return {
    lines: [
      told('requests with a trace, at two destinations', `${sent} in ${outageSeconds} s of outage`),
      ...states.map(({ delivered_count, dropped_count }, index) =>
        told(`destination ${index + 1}`, `${delivered_count} delivered, ${dropped_count} dropped`),
      ),
      none(
        'traces that neither arrived nor were counted, by the destinations',
        missing(states, sent),
      ),
      none('the same by /metrics', collectors.length * sent - delivered - dropped),
      none(
        'traces counted as delivered that no collector has',
        Math.abs(collectors.reduce((sum, { traces }) => sum + traces.size, 0) - delivered),
      ),
      none("errors in the gateway's log", gateway.findLoggedErrors().length),
    ],
  };
}

async function settle(call, sent) {
  for (const limitMs = Date.now() + SETTLE_LIMIT_MS; ; await wait(POLL_MS)) {
    const { data } = await call(DESTINATIONS);
    if (missing(data, sent) === 0 || Date.now() > limitMs) return data;
  }
}

function missing(states, sent) {
  const settled = states.map((state) => state.delivered_count + state.dropped_count);
  return settled.reduce((sum, count) => sum + Math.abs(sent - count), 0);
}

function total(metrics, name) {
  const lines = metrics.split('\n').filter((line) => line.startsWith(name));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

async function startCollector() {
  const traces = new Set();
  let isFailing = false;
  let server = await listen(0);
  const { port } = server.address();

  function listen(wanted) {
    const made = http.createServer((received, response) => {
      const chunks = [];
      received.on('data', (chunk) => chunks.push(chunk));
      received.on('end', () => {
        if (!isFailing) {
          const text = Buffer.concat(chunks).toString();
          for (const [, id] of text.matchAll(/"traceId":"([0-9a-f]+)"/g)) traces.add(id);
        }
        response.writeHead(isFailing ? 503 : 200).end('{}');
      });
    });
    return new Promise((resolve) => made.listen(wanted, '127.0.0.1', () => resolve(made)));
  }
  const close = () =>
    new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
  return {
    url: `http://127.0.0.1:${port}/v1/traces`,
    traces,
    refuse: close,
    fail: () => {
      isFailing = true;
    },
    recover: async () => {
      isFailing = false;
      if (!server.listening) server = await listen(port);
    },
    stop: close,
  };
}
