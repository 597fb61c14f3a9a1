/**
 * Simulates how many requests one PostgreSQL can carry as instances are added: group commits of every
 * instance, locks of shared accounts, and the database's cores, event by event with a seeded generator.
 * Pure arithmetic; prints the table of docs/scaling.md, which names the sources of the figures.
 *
 *   node bench/scale/capacity.mjs
 */
import { Random } from '../seeded-random.mjs';

/** Milliseconds of one core of PostgreSQL, measured by `ledger-cost.mjs`. */
const COST = { holds: 0.16, settlements: 0.7, hold: 0.013, settlement: 0.05 };
/** Time that a settling group waits for the disk and the round trip to the database. */
const DISK_MS = 1;
const NETWORK_MS = 0.5;
/** Maximum per kind in a group: MAX_GROUP_SIZE of the ledger. */
const MOST = 500;
const SECONDS = 16;
/** Not counted, until as many responses end as begin. */
const WARM_UP_SECONDS = 8;
const MEAN_ANSWER_MS = 2_000;

const CASES = [
  { instances: 1, perSecond: 250, cores: 4, tenants: 1_000, largest: 0.1 },
  { instances: 4, perSecond: 1_000, cores: 4, tenants: 1_000, largest: 0.1 },
  { instances: 10, perSecond: 2_500, cores: 8, tenants: 1_000, largest: 0.1 },
  { instances: 20, perSecond: 5_000, cores: 16, tenants: 5_000, largest: 0.1 },
  { instances: 40, perSecond: 10_000, cores: 16, tenants: 10_000, largest: 0.1 },
  { instances: 40, perSecond: 10_000, cores: 16, tenants: 10_000, largest: 0.001 },
  { instances: 40, perSecond: 10_000, cores: 16, tenants: 10_000, largest: 0.1, databases: 4 },
  { instances: 40, perSecond: 10_000, cores: 8, tenants: 10_000, largest: 0.1, databases: 8 },
];

/** Events in order of time: a binary heap. */
class Agenda {
  heap = [];

  add(atMs, run) {
    const { heap } = this;
    let index = heap.push({ atMs, run }) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (heap[parent].atMs <= heap[index].atMs) break;
      [heap[parent], heap[index]] = [heap[index], heap[parent]];
      index = parent;
    }
  }

  next() {
    const { heap } = this;
    const [first] = heap;
    const last = heap.pop();
    if (heap.length === 0) return first;
    heap[0] = last;
    for (let index = 0; ;) {
      const left = 2 * index + 1;
      let least = index;
      for (const child of [left, left + 1]) {
        if (child < heap.length && heap[child].atMs < heap[least].atMs) least = child;
      }
      if (least === index) return first;
      [heap[least], heap[index]] = [heap[index], heap[least]];
      index = least;
    }
  }
}

/** Simulates one of `databases` equal parts, each with its share of instances and tenants. */
function simulate({ instances, perSecond, cores, tenants, largest, databases = 1 }) {
  const numbers = new Random(19);
  const random = () => numbers.next();
  const agenda = new Agenda();
  const endMs = SECONDS * 1_000;
  const waits = { hold: [], settlement: [] };
  const accounts = new Map();
  const database = { free: cores, queue: [], busyMs: 0, groups: 0, operations: 0 };
  const shared = { instances: instances / databases, perSecond: perSecond / databases };
  const others = Math.max(1, Math.round(tenants / databases) - 1);
  let nowMs = 0;

  const pickTenant = () => (random() < largest ? 0 : 1 + Math.floor(random() * others));
  const exponential = (meanMs) => -Math.log(1 - random()) * meanMs;
  const nodes = Array.from({ length: shared.instances }, () => ({ queue: [], isBusy: false }));

  const arrive = (node) => {
    const tenant = pickTenant();
    enqueue(node, { kind: 'hold', tenant });
    agenda.add(nowMs + exponential(MEAN_ANSWER_MS), () =>
      enqueue(node, { kind: 'settlement', tenant }),
    );
    agenda.add(nowMs + exponential((1_000 * shared.instances) / shared.perSecond), () =>
      arrive(node),
    );
  };
  const enqueue = (node, operation) => {
    node.queue.push({ ...operation, atMs: nowMs });
    if (!node.isBusy) begin(node);
  };
  const begin = (node) => {
    if (node.queue.length === 0) return;
    node.isBusy = true;
    const group = { node, operations: [], locks: [], locked: 0 };
    const counts = { hold: 0, settlement: 0 };
    const left = [];
    for (const operation of node.queue) {
      if (counts[operation.kind] === MOST) left.push(operation);
      else {
        counts[operation.kind]++;
        group.operations.push(operation);
      }
    }
    node.queue = left;
    group.hasSettlements = counts.settlement > 0;
    group.costMs =
      (group.hasSettlements ? COST.settlements : COST.holds) +
      counts.hold * COST.hold +
      counts.settlement * COST.settlement;
    group.locks = [...new Set(group.operations.map(({ tenant }) => tenant))].sort((a, b) => a - b);
    agenda.add(nowMs + NETWORK_MS / 2, () => lock(group));
  };
  /** Locks accounts in id order like the statement; waits in line for taken ones. */
  const lock = (group) => {
    while (group.locked < group.locks.length) {
      const account = group.locks[group.locked];
      const line = accounts.get(account);
      if (line) {
        line.push(group);
        return;
      }
      accounts.set(account, []);
      group.locked++;
    }
    database.queue.push(group);
    work();
  };
  const work = () => {
    while (database.free > 0 && database.queue.length > 0) {
      const group = database.queue.shift();
      database.free--;
      agenda.add(nowMs + group.costMs, () => {
        database.free++;
        if (nowMs > WARM_UP_SECONDS * 1_000) database.busyMs += group.costMs;
        work();
        agenda.add(nowMs + (group.hasSettlements ? DISK_MS : 0), () => commit(group));
      });
    }
  };
  const commit = (group) => {
    for (const account of group.locks) {
      const line = accounts.get(account);
      const next = line.shift();
      if (next) {
        next.locked++;
        lock(next);
      } else accounts.delete(account);
    }
    agenda.add(nowMs + NETWORK_MS / 2, () => {
      if (nowMs > WARM_UP_SECONDS * 1_000) {
        database.groups++;
        database.operations += group.operations.length;
        for (const { kind, atMs } of group.operations) waits[kind].push(nowMs - atMs);
      }
      group.node.isBusy = false;
      begin(group.node);
    });
  };

  for (const node of nodes) agenda.add(exponential(20), () => arrive(node));
  while (agenda.heap.length > 0) {
    const event = agenda.next();
    nowMs = event.atMs;
    if (nowMs > endMs) break;
    event.run();
  }
  const countedMs = endMs - WARM_UP_SECONDS * 1_000;
  return {
    busy: database.busyMs / (cores * countedMs),
    perGroup: database.operations / database.groups,
    settled: (waits.settlement.length * databases * 1_000) / countedMs,
    hold: percentilesOf(waits.hold),
    settlement: percentilesOf(waits.settlement),
  };
}

function percentilesOf(values) {
  const sorted = values.sort((left, right) => left - right);
  const at = (fraction) => sorted[Math.floor((sorted.length - 1) * fraction)] ?? NaN;
  return `${at(0.5).toFixed(1)} / ${at(0.99).toFixed(1)}`;
}

console.log(
  '| requests/s | instances | PostgreSQL | tenants, the largest | cores busy | entries a group | hold p50 / p99, ms | settlement p50 / p99, ms | settled/s |',
);
console.log('| ---: | ---: | --- | --- | ---: | ---: | ---: | ---: | ---: |');
for (const one of CASES) {
  const { busy, perGroup, settled, hold, settlement } = simulate(one);
  const { perSecond, instances, cores, tenants, largest, databases = 1 } = one;
  console.log(
    `| ${[
      perSecond.toLocaleString('en'),
      instances,
      `${databases} × ${cores} cores`,
      `${tenants.toLocaleString('en')}, ${largest * 100} %`,
      `${Math.round(busy * 100)} %`,
      perGroup.toFixed(1),
      hold,
      settlement,
      Math.round(settled).toLocaleString('en'),
    ].join(' | ')} |`,
  );
}
