import { setTimeout as wait } from 'node:timers/promises';
import { megabytes } from './lines.mjs';
import { countProcesses, readTreeCpu, readTreeMemory } from './process-tree.mjs';

const REST_MS = 2_000;

/**
 * Measures newly started targets without load: their memory and their idle work. Run it first.
 *
 * @param row.maxCoreShare share of one core that the gateway's whole process tree may use
 */
export async function runRestRow({ title, maxBytes, maxCoreShare }, bench) {
  await wait(REST_MS);
  const measured = {};
  for (const { name, server } of bench.targets) {
    measured[name] = { ...readTreeMemory(server.pid), cpu: readTreeCpu(server.pid) };
  }
  const { quietMs } = bench.settings;
  await wait(quietMs);
  for (const { name, server } of bench.targets) {
    const { cpu } = measured[name];
    const after = readTreeCpu(server.pid);
    measured[name].nodeShare = (after.node - cpu.node) / (quietMs * 1_000);
    measured[name].postgresShare = (after.postgres - cpu.postgres) / (quietMs * 1_000);
    measured[name].processes = countProcesses(server.pid);
  }
  const { yardstick, gateway } = measured;
  const coreShare = gateway.nodeShare + gateway.postgresShare;
  return {
    rounds: [measured],
    lines: [
      {
        work: `${title}: memory`,
        yardstick: megabytes(yardstick.node),
        node: megabytes(gateway.node),
        postgres: megabytes(gateway.postgres),
        tree: megabytes(gateway.node + gateway.postgres),
        budgets: [{ text: `≤ ${megabytes(maxBytes)}`, isMet: gateway.node <= maxBytes }],
      },
      {
        work: `${title}: a core's share in ${quietMs / 1_000} quiet seconds`,
        yardstick: percent(yardstick.nodeShare),
        node: percent(gateway.nodeShare),
        postgres: percent(gateway.postgresShare),
        tree: percent(coreShare),
        budgets: [{ text: `all ≤ ${percent(maxCoreShare)}`, isMet: coreShare <= maxCoreShare }],
      },
      {
        work: `${title}: processes`,
        yardstick: String(yardstick.processes.node),
        node: String(gateway.processes.node),
        postgres: String(gateway.processes.postgres),
        tree: String(gateway.processes.node + gateway.processes.postgres),
      },
    ],
    figures: [
      { name: 'memory, Node', unit: 'MB', values: [gateway.node / 1e6], floor: 5 },
      { name: 'memory, PostgreSQL', unit: 'MB', values: [gateway.postgres / 1e6], floor: 5 },
      { name: "a core's share", unit: '%', values: [100 * coreShare], floor: 0.2 },
      {
        name: 'PostgreSQL processes',
        unit: '',
        values: [gateway.processes.postgres],
        floor: 1,
      },
    ],
  };
}

function percent(share) {
  return `${(100 * share).toFixed(2)} %`;
}
