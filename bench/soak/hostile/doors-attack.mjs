import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { told } from '../table.mjs';

/** Public paths, including expensive pages. */
const OPEN_PATHS = [
  '/docs',
  '/docs-json',
  '/docs/swagger-ui-bundle.js',
  '/metrics',
  '/console/',
  '/healthz',
  '/readyz',
  '/',
  '/nothing-here',
];
const CALLERS = 24;
const LASTS_MS = 4_000;
/** More than the queue allows per address. */
const PROBERS = 600;
const UNREAD_CONNECTIONS = 60;
const UNREAD_PAGES = 8;
/** Another loopback address than the attackers'. */
const BALANCER = '127.0.0.9';
const BALANCER_ASKS_EVERY_MS = 100;
/** Typical timeout of a load balancer. */
const BALANCER_LIMIT_MS = 2_000;

/**
 * Callers without a key fetch public paths as fast as they can, probe without a pause, and request pages
 * that they do not read. A load balancer at another address also probes.
 */
export const doorsAttack = {
  id: 'doors',
  before: { 'probes and pages of a balancer without a 200': '4 of 4' },
  async run(stronghold) {
    const untilMs = Date.now() + LASTS_MS;
    const served = Object.fromEntries(OPEN_PATHS.map((path) => [path, 0]));
    let lost = 0;
    const fetchAll = async (first) => {
      for (let next = first; Date.now() < untilMs; next++) {
        const path = OPEN_PATHS[next % OPEN_PATHS.length];
        try {
          const { body } = await request(stronghold.url + path, { dispatcher: stronghold.agent });
          await body.dump({ limit: Infinity });
          served[path]++;
        } catch {
          lost++;
        }
      }
    };
    await Promise.all(Array.from({ length: CALLERS }, (_, index) => fetchAll(index)));
    const { refused, asked } = await crowd(stronghold.url);
    const answers = Object.values(served).reduce((sum, count) => sum + count, 0);
    return [
      told('answers to callers without a key', answers),
      told('not answered at all', lost),
      {
        what: 'probes and pages of a balancer without a 200',
        figure: `${refused} of ${asked}`,
        bound: '0',
        isMet: refused === 0,
      },
    ];
  },
};

/** @returns how many of the load balancer's requests had no 200 in time */
async function crowd(url) {
  const agent = new Agent({ connections: PROBERS });
  const untilMs = Date.now() + LASTS_MS;
  const unread = Array.from({ length: UNREAD_CONNECTIONS }, () => askAndDoNotRead(url));
  const probers = Array.from({ length: PROBERS }, async () => {
    while (Date.now() < untilMs) {
      const { body } = await request(`${url}/readyz`, { dispatcher: agent });
      await body.dump();
    }
  });
  const balancer = new Agent({ localAddress: BALANCER });
  let refused = 0;
  let asked = 0;
  while (Date.now() < untilMs) {
    for (const path of ['/readyz', '/metrics']) {
      asked++;
      if (!(await isServed(url + path, balancer))) refused++;
    }
    await wait(BALANCER_ASKS_EVERY_MS);
  }
  await Promise.allSettled(probers);
  for (const socket of unread) socket.destroy();
  await Promise.all([agent.destroy(), balancer.destroy()]);
  return { refused, asked };
}

function askAndDoNotRead(url) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).pause();
  socket.on('error', () => undefined);
  socket.write('GET /docs-json HTTP/1.1\r\nHost: gateway\r\n\r\n'.repeat(UNREAD_PAGES));
  return socket;
}

async function isServed(url, dispatcher) {
  try {
    const signal = AbortSignal.timeout(BALANCER_LIMIT_MS);
    const { statusCode, body } = await request(url, { dispatcher, signal });
    await body.dump();
    return statusCode === 200;
  } catch {
    return false;
  }
}
