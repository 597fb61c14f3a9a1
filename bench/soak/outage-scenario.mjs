import { setTimeout as wait } from 'node:timers/promises';
import { Driver } from '../driver.mjs';
import { smallChat, streamedChat } from '../workloads.mjs';
import { modelRow } from './gateway-process.mjs';
import { atMost, milliseconds, none, told } from './table.mjs';

const PRIMARY = 'bench';
const FALLBACK = 'spare';
const HEALTHY_SECONDS = 10;
/** The primary must serve again within this time; the run lasts slightly longer. */
const RECOVERY_LIMIT_SECONDS = 30;
const HEALTHY_AGAIN_SECONDS = 10;
/** Time that the primary may hang before the fallback is called; the service's default is minutes. */
const FIRST_BYTE_MS = 2_000;
/** Requests this shortly before the first trouble may have been affected by it. */
const UNDER_WAY_MS = 500;
const TROUBLES = ['refusing', 'failing', 'breaking'];

/**
 * Makes the primary provider fail in one way after the other, and recover. Another of its models is
 * overloaded all the time, which must not affect the healthy ones.
 */
export async function runOutage(soak) {
  const spare = await soak.startVendor();
  const primary = await soak.startTroubledVendor(spare);
  const gateway = await soak.startGateway({
    providers: { [PRIMARY]: primary.url, [FALLBACK]: spare.url },
    models: [
      modelRow('served', withFallback('served')),
      modelRow('served-streams', withFallback('served-streams')),
      modelRow('overloaded', withFallback('overloaded', '~overloaded')),
    ],
  });
  await soak.warmUp(gateway);

  const { phaseSeconds } = soak.settings;
  const durationMs =
    1000 *
    (HEALTHY_SECONDS +
      TROUBLES.length * phaseSeconds +
      RECOVERY_LIMIT_SECONDS +
      HEALTHY_AGAIN_SECONDS);
  const drivers = [
    [smallChat('served'), 15],
    [streamedChat('served-streams', 50), 5],
    [smallChat('overloaded'), 5],
  ].map(([workload, perSecond]) => {
    const driver = new Driver(gateway.target, workload, { connections: 250 });
    return { driver, answers: driver.openLoop({ perSecond, durationMs }) };
  });
  const phases = await runPhases(primary, phaseSeconds);
  await Promise.all(drivers.map(({ answers }) => answers));
  const failures = await soak.finish(drivers.map(({ driver }) => driver));

  const log = await gateway.books.readLog();
  const overloaded = log.filter(({ model }) => model === 'bench/overloaded');
  const spared = overloaded.filter(({ provider }) => provider === FALLBACK);
  const served = log
    .filter(({ model }) => model === 'bench/served' || model === 'bench/served-streams')
    .map((row) => ({ ...row, atMs: row.created_at.getTime() }));
  const between = (fromMs, untilMs) =>
    served.filter(({ atMs }) => atMs >= fromMs && atMs < untilMs);
  const healthyAgainAtMs = phases.recoveredAtMs + RECOVERY_LIMIT_SECONDS * 1000;
  const lost = [
    ...between(phases.beganAtMs, phases.troubles[0].atMs - UNDER_WAY_MS),
    ...between(healthyAgainAtMs, Infinity),
  ].filter(({ provider }) => provider !== PRIMARY);
  return {
    lines: [
      none('callers at 25 a second who got no answer, or a wrong one', failures),
      ...phases.troubles.map(({ trouble, atMs }) =>
        phaseLine(trouble, between(atMs, atMs + phaseSeconds * 1000)),
      ),
      ...['bench/served', 'bench/served-streams'].map((model) =>
        recoveryLine(model, between(phases.recoveredAtMs, Infinity), phases.recoveredAtMs),
      ),
      {
        what: 'the overloaded model, answered by the fallback',
        figure: String(spared.length),
        bound: `${overloaded.length}, all of them`,
        isMet: spared.length === overloaded.length,
      },
      none('requests that an overloaded neighbour took away from the healthy primary', lost.length),
      ...(await soak.checkBooks(gateway)),
    ],
    phases,
  };
}

function withFallback(model, trouble = '') {
  const timeouts = { first_byte_ms: FIRST_BYTE_MS };
  return [
    { provider: PRIMARY, model: `${model}${trouble}`, priority: 0, timeouts },
    { provider: FALLBACK, model, priority: 1 },
  ];
}

/** @returns when the run and each trouble began, and when the primary had recovered */
async function runPhases(primary, phaseSeconds) {
  const beganAtMs = Date.now();
  await wait(HEALTHY_SECONDS * 1000);
  const troubles = [];
  for (const trouble of TROUBLES) {
    troubles.push({ trouble, atMs: Date.now() });
    await primary.control(trouble);
    await wait(phaseSeconds * 1000);
  }
  await primary.control('passing');
  return { beganAtMs, troubles, recoveredAtMs: Date.now() };
}

function phaseLine(trouble, rows) {
  const fallback = rows.filter(({ provider }) => provider === FALLBACK).length;
  const slowest = Math.max(0, ...rows.map(({ latency_ms: latencyMs }) => latencyMs));
  return told(
    `while the primary was ${trouble}: answered by the fallback, and the slowest answer`,
    `${fallback} of ${rows.length}, ${milliseconds(slowest)}`,
  );
}

function recoveryLine(model, rows, recoveredAtMs) {
  const first = rows.find((row) => row.model === model && row.provider === PRIMARY);
  const what = `the primary answers ${model} again after`;
  if (first === undefined) {
    return { what, figure: 'never', bound: `≤ ${RECOVERY_LIMIT_SECONDS} s`, isMet: false };
  }
  const past = (first.atMs - recoveredAtMs) / 1000;
  return atMost(what, past, RECOVERY_LIMIT_SECONDS, (value) => `${value.toFixed(1)} s`);
}
