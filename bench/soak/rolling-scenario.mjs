import { mkdirSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { PROJECT_ROOT } from '../../scripts/project-root.mjs';
import { Driver } from '../driver.mjs';
import { gatewayEnvironment } from '../gateway-home.mjs';
import { smallChat, streamedChat } from '../workloads.mjs';
import { findBalancer, findFreePort, startBalancer } from './balancer.mjs';
import { Books } from './books.mjs';
import { modelRow } from './gateway-process.mjs';
import { none, told } from './table.mjs';

const INSTANCES = 2;
/** 100 a second in total: kept-alive connections, one connection per request, and streams of a second. */
const LOAD = [
  { workload: smallChat('rolling-kept'), perSecond: 50 },
  { workload: smallChat('rolling-fresh'), perSecond: 30, isFresh: true },
  { workload: streamedChat('paced-rolling', 20), perSecond: 20, isFresh: true },
];
const LAME_DUCK_SECONDS = 5;
const STEADY_MS = 3_000;
/** Two checks of the load balancer, one a second, and a margin. */
const SEEN_MS = 3_000;
const EMBEDDED_POSTGRES = 'dist/src/platform/database/embedded-postgres.js';

/** Replaces one instance after the other under load: no request may fail. */
export async function runRolling(soak) {
  const balancer = findBalancer(soak.settings.balancer);
  if (balancer === undefined) {
    const place = soak.settings.balancer ?? 'PATH';
    return { lines: [told('not run', `no HAProxy in ${place}; see docs/operations.md`)] };
  }
  const { startEmbeddedPostgres } = await import(
    pathToFileURL(join(PROJECT_ROOT, EMBEDDED_POSTGRES)).href
  );
  const vendor = await soak.startVendor();
  const databaseFolder = join(soak.folder, 'database');
  const database = await startEmbeddedPostgres({ dataDirectory: databaseFolder });
  soak.addServer({ stop: () => database.stop() });
  const books = new Books(databaseFolder);

  const sharedFolder = join(soak.folder, 'shared');
  mkdirSync(sharedFolder);
  const common = {
    DATABASE_URL: database.url,
    GATEWAY_SECRET: randomBytes(32).toString('hex'),
    GATEWAY_BOOTSTRAP_API_KEY: `sk-soak-${randomBytes(16).toString('hex')}`,
    GATEWAY_LAME_DUCK_SECONDS: String(LAME_DUCK_SECONDS),
    // Either instance can serve artifacts of both.
    GATEWAY_DATA_DIR: sharedFolder,
  };
  const instances = [];
  for (let number = 1; number <= INSTANCES; number++) {
    const folder = join(soak.folder, `gateway-${number}`);
    mkdirSync(folder);
    const port = await findFreePort();
    const { environment } = gatewayEnvironment({
      folder,
      keyPrefix: 'sk-soak-',
      providers: [{ id: 'bench', name: 'bench', base_url: `${vendor.url}/v1` }],
      models: LOAD.map(({ workload }) => modelRow(workload.model)),
      further: { ...common, PORT: String(port) },
    });
    instances.push({ environment, port, server: await soak.startService(environment) });
  }
  const { url, stop } = await startBalancer(balancer, {
    folder: soak.folder,
    gateways: instances.map(({ port }) => `127.0.0.1:${port}`),
  });
  soak.addServer({ stop });
  await wait(SEEN_MS);

  const target = {
    name: 'rolling',
    origin: url,
    apiKey: common.GATEWAY_BOOTSTRAP_API_KEY,
    bills: true,
    modelInAnswer: ({ alias }) => alias,
    recordAnswer: (alias, reader) => books.expectAnswer(alias, reader),
  };
  let isOver = false;
  const drivers = LOAD.map(({ workload, perSecond, isFresh }) => {
    const driver = new Driver(target, workload, { connections: 200, isFresh });
    return { driver, answers: driver.openLoop({ perSecond, until: () => isOver }) };
  });
  await wait(STEADY_MS);
  const statuses = [];
  for (const instance of instances) statuses.push(await replace(soak, instance));
  await wait(STEADY_MS);
  isOver = true;
  const sent = await Promise.all(drivers.map(({ answers }) => answers));
  const failures = await soak.finish(drivers.map(({ driver }) => driver));
  const { faults, holds } = await books.findFaults();
  soak.addFaults(...faults.slice(0, 5));
  return {
    lines: [
      told(
        'requests',
        sent.reduce((sum, { requests }) => sum + requests, 0),
      ),
      none('of them failed, wrong or cut', failures),
      none('instances that did not exit with 0', statuses.filter(({ code }) => code !== 0).length),
      none(`of ${books.size} invoices: wrong, missing or too many`, faults.length),
      none('open holds', holds),
    ],
  };
}

/** Restarts an instance and waits for the load balancer to notice. @returns how it exited */
async function replace(soak, instance) {
  process.kill(instance.server.pid, 'SIGTERM');
  const ending = await instance.server.exited;
  instance.server = await soak.startService(instance.environment);
  await wait(SEEN_MS);
  return ending;
}
