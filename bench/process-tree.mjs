import { readdirSync, readFileSync } from 'node:fs';

/** USER_HZ, which is 100 on every Linux that Node runs on. */
const MICROSECONDS_PER_TICK = 10_000;

/**
 * Returns the CPU time that a process and its descendants have used, in microseconds: PostgreSQL's and
 * the rest (Node). Parents account for children that have exited.
 */
export function readTreeCpu(rootPid) {
  const cpu = { node: 0, postgres: 0 };
  for (const { isPostgres, ownTicks, endedChildrenTicks } of readTree(rootPid)) {
    const used = (ownTicks + endedChildrenTicks) * MICROSECONDS_PER_TICK;
    cpu[isPostgres ? 'postgres' : 'node'] += used;
  }
  return cpu;
}

/**
 * Returns the memory of a process and its descendants in bytes: Node's resident memory, and
 * PostgreSQL's with each shared page counted once.
 */
export function readTreeMemory(rootPid) {
  const memory = { node: 0, postgres: 0 };
  for (const { pid, isPostgres } of readTree(rootPid)) {
    if (isPostgres) memory.postgres += readProportionalMemory(pid);
    else memory.node += readResidentMemory(pid);
  }
  return memory;
}

/** Returns the ids of a process and its descendants. */
export function readTreePids(rootPid) {
  const pids = { node: [], postgres: [] };
  for (const { pid, isPostgres } of readTree(rootPid)) {
    pids[isPostgres ? 'postgres' : 'node'].push(pid);
  }
  return pids;
}

/** Counts a process and its descendants. */
export function countProcesses(rootPid) {
  const { node, postgres } = readTreePids(rootPid);
  return { node: node.length, postgres: postgres.length };
}

/** Returns the CPU time used by all processes of the machine, in microseconds. */
export function readMachineCpu() {
  const [, user, nice, system, , , irq, softirq, steal] = readFileSync('/proc/stat', 'latin1')
    .split('\n', 1)[0]
    .split(/\s+/)
    .map(Number);
  return (user + nice + system + irq + softirq + steal) * MICROSECONDS_PER_TICK;
}

function readTree(rootPid) {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const childrenOf = new Map();
  const processes = new Map();
  for (const pid of all.map(Number)) {
    const found = readProcess(pid);
    if (!found) continue;
    processes.set(pid, found);
    const siblings = childrenOf.get(found.parentPid);
    if (siblings) siblings.push(pid);
    else childrenOf.set(found.parentPid, [pid]);
  }
  const tree = [];
  for (const pids = [rootPid]; pids.length > 0;) {
    const pid = pids.pop();
    const found = processes.get(pid);
    if (found) tree.push(found);
    pids.push(...(childrenOf.get(pid) ?? []));
  }
  return tree;
}

/** Returns undefined for a process that has exited. */
function readProcess(pid) {
  let stat;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return undefined;
  }
  const nameEnd = stat.lastIndexOf(')');
  const fields = stat.slice(nameEnd + 2).split(' ');
  const [user, system, childrenUser, childrenSystem] = fields.slice(11, 15).map(Number);
  return {
    pid,
    parentPid: Number(fields[1]),
    isPostgres: stat.slice(stat.indexOf('(') + 1, nameEnd) === 'postgres',
    ownTicks: user + system,
    endedChildrenTicks: childrenUser + childrenSystem,
  };
}

function readResidentMemory(pid) {
  return readKilobytes(`/proc/${pid}/status`, /^VmRSS:\s+(\d+)/m);
}

function readProportionalMemory(pid) {
  return readKilobytes(`/proc/${pid}/smaps_rollup`, /^Pss:\s+(\d+)/m);
}

function readKilobytes(file, pattern) {
  try {
    return 1024 * Number(pattern.exec(readFileSync(file, 'latin1'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
