import { Pool } from 'undici';
import { Driver } from '../driver.mjs';
import { largeChat, smallChat, streamedChat } from '../workloads.mjs';
import { readConnections } from './connections.mjs';
import { modelRow } from './gateway-process.mjs';
import { collectGarbage, readHandles } from './inspector.mjs';
import { inUseLine, readMemory, readRestSeries, restLine, seriesNote } from './memory.mjs';
import { OddCallers } from './malformed-callers.mjs';
import { none } from './table.mjs';

const CONNECTIONS = 300;
/** Events of the vendor's silent streams before they fall silent. */
const SILENT_AFTER_EVENTS = 10;
/** The database's pool opens and closes connections as it needs them. */
const SLACK = 3;

/** Requests that succeed, some after a fallback: name, kind, rate, trouble. */
const CHECKED = [
  { workload: smallChat('chat'), perSecond: 40 },
  { workload: largeChat('large-chat'), perSecond: 8 },
  { workload: streamedChat('stream', 60), perSecond: 15 },
  { workload: streamedChat('paced-stream', 40), perSecond: 8 },
  { workload: smallChat('failing'), perSecond: 6, trouble: '500~often' },
  { workload: smallChat('limited'), perSecond: 6, trouble: '429~often' },
  { workload: smallChat('reset'), perSecond: 6, trouble: 'reset~often' },
  { workload: streamedChat('cut-early', 60), perSecond: 4, trouble: 'cut-early~often' },
];

const SILENT = streamedChat('left-silent', 60);
const BUSY = streamedChat('paced-left', 400);
const CUT = streamedChat('cut-late', 60);
const HALF_SENT = largeChat('half-sent');

/** Everything at once for minutes, then nothing. Reports what is left behind. */
export async function runMixed(soak) {
  const { mixedSeconds, restSeconds } = soak.settings;
  const behind = await soak.startVendor();
  // Neither tells the gateway how long an idle connection stays open.
  const vendor = await soak.startTroubledVendor(behind);
  const spare = await soak.startTroubledVendor(behind);
  const gateway = await soak.startGateway({
    providers: { bench: vendor.url, spare: spare.url },
    models: [
      ...CHECKED.map(({ workload, trouble }) =>
        modelRow(workload.model, routes(workload, trouble)),
      ),
      modelRow(SILENT.model, [route(SILENT, 'silent')]),
      modelRow(BUSY.model),
      modelRow(CUT.model, [route(CUT, 'cut-late')]),
      modelRow(HALF_SENT.model),
    ],
  });
  await soak.warmUp(gateway);
  const before = await look(gateway);

  const durationMs = mixedSeconds * 1000;
  const drivers = CHECKED.map(({ workload, perSecond }) => {
    const driver = new Driver(gateway.target, workload, { connections: CONNECTIONS });
    return { driver, answers: driver.openLoop({ perSecond, durationMs }) };
  });
  const pool = new Pool(gateway.url, { connections: CONNECTIONS, pipelining: 1 });
  const callers = new OddCallers(gateway, pool);
  const [counts] = await Promise.all([
    Promise.all(drivers.map(({ answers }) => answers)),
    sendOddities(callers, durationMs),
  ]);
  const failures = await soak.finish(drivers.map(({ driver }) => driver));
  soak.addFaults(...callers.faults);
  await pool.destroy();

  const series = await readRestSeries(gateway, restSeconds);
  const after = await look(gateway);
  const sent = counts.reduce((sum, { requests }) => sum + requests, callers.calls);
  return {
    lines: [
      none(
        `of ${sent} requests in ${mixedSeconds} s, answered wrongly`,
        failures + callers.failures,
      ),
      ...fallbackLines(await gateway.books.readLog()),
      restLine(before.memory, series),
      inUseLine('after the load', await collectGarbage(gateway)),
      countsLine('connections and files', before.connections, after.connections),
      countsLine('handles', before.handles, after.handles),
      ...(await soak.checkBooks(gateway)),
    ],
    notes: [seriesNote(series)],
    series: { before: before.memory, after: series },
  };
}

function sendOddities(callers, durationMs) {
  return Promise.all([
    callers.atRate(5, durationMs, (index) =>
      callers.leaveSilent(SILENT, index, SILENT_AFTER_EVENTS),
    ),
    callers.atRate(5, durationMs, (index) => callers.leaveBusy(BUSY, index, 5 + (index % 36))),
    callers.atRate(4, durationMs, (index) => callers.readCut(CUT, index)),
    callers.atRate(5, durationMs, (index) => callers.leaveMidBody(HALF_SENT, index)),
    callers.atRate(4, durationMs, (index) => callers.sendBad(index)),
    callers.atRate(4, durationMs, (index) => callers.sendUnknownKey(CHECKED[0].workload, index)),
  ]);
}

/** Reads everything that must be equal before and after the load. */
async function look(gateway) {
  return {
    memory: readMemory(gateway),
    connections: readConnections(gateway).counts,
    handles: await readHandles(gateway),
  };
}

function routes(workload, trouble) {
  if (trouble === undefined) return undefined;
  return [route(workload, trouble), { provider: 'spare', model: workload.model, priority: 1 }];
}

function route({ model }, trouble) {
  return { provider: 'bench', model: `${model}~${trouble}`, priority: 0 };
}

/** A trouble without any affected request would prove nothing. */
function fallbackLines(rows) {
  return CHECKED.filter(({ trouble }) => trouble !== undefined).map(({ workload, trouble }) => {
    const asked = rows.filter(({ model }) => model === workload.alias);
    const fallbacks = asked.filter(({ provider }) => provider === 'spare').length;
    return {
      what: `answered by the fallback, vendor with ${trouble.split('~', 1)[0]}`,
      figure: `${fallbacks} of ${asked.length}`,
      bound: '≥ 1',
      isMet: fallbacks > 0,
    };
  });
}

function countsLine(what, before, after) {
  const kinds = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  const spell = (counts) => kinds.map((kind) => `${kind} ${counts[kind] ?? 0}`).join(', ');
  return {
    what: `${what} after the rest`,
    figure: spell(after),
    bound: `${spell(before)}; ± ${SLACK} each`,
    isMet: kinds.every((kind) => Math.abs((after[kind] ?? 0) - (before[kind] ?? 0)) <= SLACK),
  };
}
