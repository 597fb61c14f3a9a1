import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Driver } from '../driver.mjs';
import { startServer } from '../server-process.mjs';
import { median } from '../statistics.mjs';
import { toMarkdown } from '../table.mjs';
import { installPeer } from './install.mjs';
import { PEERS } from './peers.mjs';

const START_LIMIT_MS = 180_000;
const RIVAL = 'tensorzero';

/**
 * Runs the same rows on the bare proxy, this gateway and the available peers.
 *
 * @param started what `run-bench.mjs` has started
 * @returns the table, notes on what is missing, and each round's figures
 */
export async function runPeers({ rows, settings }, { started, servers, folder, say }) {
  const models = rows.flatMap((row) => row.models.map((alias) => alias.split('/')[1]));
  const peers = await startPeers(models, started.upstreamUrl, { servers, folder, say });
  const targets = [...started.targets, ...peers.targets];
  const lines = [];
  const rounds = {};
  const notes = peers.missing;
  for (const row of rows) {
    const startedMs = Date.now();
    const found = await runRow(row, targets, settings);
    rounds[row.id] = found.rounds;
    lines.push(...linesOf(row, found.rounds, targets));
    notes.push(...found.notes);
    say(`${row.id}: ${((Date.now() - startedMs) / 1000).toFixed(1)} s`);
  }
  const columns = [
    ['work', ({ work }) => work],
    ['bare proxy', ({ cells }) => cells.yardstick],
    ['gateway (Node alone)', ({ cells }) => cells.gateway],
    ...peers.targets.map(({ name, title }) => [title, ({ cells }) => cells[name]]),
    ['goal', ({ goal }) => goal],
  ];
  return { table: toMarkdown(lines, columns), notes, rounds };
}

async function startPeers(models, upstreamUrl, { servers, folder, say }) {
  const targets = [];
  const missing = [];
  for (const peer of PEERS) {
    try {
      const installed = await installPeer(peer, say);
      const home = join(folder, peer.id);
      mkdirSync(home);
      const how = await peer.serve({ folder: home, upstreamUrl, models, ...installed });
      const server = await startServer(how.words, {
        servers,
        command: how.command,
        logFile: join(home, 'server.log'),
        environment: { PATH: process.env.PATH, UPSTREAM_KEY: 'upstream-key', ...how.environment },
        startLimitMs: START_LIMIT_MS,
      });
      targets.push(targetOf(peer, how, server));
    } catch (error) {
      missing.push(`${peer.name} ${peer.version} is not in the table: ${firstWords(error)}`);
    }
  }
  return { targets, missing };
}

function targetOf({ id, name, version }, { path, headers = {}, modelOf, modelInAnswer }, server) {
  return {
    name: id,
    title: `${name} ${version}`,
    origin: server.url,
    server,
    path,
    headers,
    modelOf,
    modelInAnswer,
    bills: false,
    recordAnswer() {},
    async beginRow() {},
    async findBillingFaults() {
      return [];
    },
  };
}

/** Warms up each target and then measures them alternately. */
async function runRow(row, targets, settings) {
  const workload = row.makeWorkload(settings);
  const drivers = targets.map((target) => {
    const asked = target.modelOf && workload.with({ askedModel: target.modelOf(workload) });
    return new Driver(target, asked ?? workload, { connections: row.connections });
  });
  for (const driver of drivers) {
    await driver.target.beginRow();
    await row.warmUp(driver, settings);
    driver.failures = 0;
  }
  const rounds = [];
  for (let round = 0; round < (row.rounds ?? settings.rounds); round++) {
    const measured = {};
    for (const driver of drivers) {
      const before = driver.failures;
      const found = await row.measure(driver, settings);
      measured[driver.target.name] = { ...found, failures: driver.failures - before };
    }
    rounds.push(measured);
  }
  const notes = [];
  for (const driver of drivers) {
    const { target, failures, faults } = driver;
    if (failures > 0 || faults.length > 0) {
      const title = target.title ?? target.name;
      notes.push(`${row.title}: ${failures} answers of ${title} failed (${faults[0]})`);
    }
    for (const fault of await target.findBillingFaults(workload.alias)) notes.push(fault);
    await driver.close();
  }
  return { rounds, notes };
}

function linesOf(row, rounds, targets) {
  return row.show.map(({ name, unit, digits, all, node, isAdded, goal }) => {
    const middle = (read, target) =>
      median(rounds.map((round) => read(round[target]) - (isAdded ? read(round.yardstick) : 0)));
    const worded = (value) => `${isAdded && value >= 0 ? '+' : ''}${value.toFixed(digits)}`;
    const cells = {};
    for (const { name: target } of targets) {
      const failed = rounds.reduce((sum, round) => sum + (round[target].failures ?? 0), 0);
      const isOurs = target === 'gateway' && node !== undefined;
      const value = worded(middle(all, target));
      const parts = [isOurs ? `${value} (${worded(middle(node, target))})` : value, unit];
      if (failed > 0) parts.push(`(${failed} failed)`);
      cells[target] = parts.join(' ');
    }
    if (isAdded) cells.yardstick = '';
    const work = name === '' ? row.title : `${row.title}: ${name}`;
    if (goal === undefined || rounds[0][RIVAL] === undefined) return { work, cells };
    const ratio = middle(all, 'gateway') / middle(all, RIVAL);
    const verdict = ratio <= goal ? 'met' : '**missed**';
    return { work, cells, goal: `≤ ${goal} × TensorZero: ${ratio.toFixed(2)} ×, ${verdict}` };
  });
}

/** Shortens a message to one line, for a cell or a note. */
function firstWords({ message }) {
  return message.split('\n').slice(0, 3).join(' ').slice(0, 300);
}

/** Writes the rounds' figures. */
export function writePeers(file, { rounds, notes }) {
  writeFileSync(file, JSON.stringify({ rounds, notes }, undefined, 2));
}
