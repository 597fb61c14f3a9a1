import { median } from './statistics.mjs';

/**
 * Lines of the table, and figures of `bench/history/`. A figure has the values of a row's rounds. Higher
 * is worse, and differences below `floor` are ignored.
 */

/** @param bounds `ratio` of Node to the yardstick and `postgresMicros`; both optional */
export function cpuLine(work, rounds, { ratio, postgresMicros } = {}) {
  const of = (read) => median(rounds.map(read));
  const ratios = rounds.map(({ yardstick, gateway }) => gateway.node / yardstick.node);
  const postgres = of(({ gateway }) => gateway.postgres);
  const budgets = [];
  if (ratio !== undefined) {
    budgets.push({ text: `≤ ${times(ratio)}`, isMet: median(ratios) <= ratio });
  }
  if (postgresMicros !== undefined) {
    budgets.push({
      text: `PostgreSQL ≤ ${postgresMicros} µs`,
      isMet: postgres <= postgresMicros,
    });
  }
  return {
    work,
    yardstick: micros(of(({ yardstick }) => yardstick.node)),
    node: micros(of(({ gateway }) => gateway.node)),
    postgres: micros(postgres),
    tree: micros(of(({ gateway }) => gateway.node + gateway.postgres)),
    result: `${times(median(ratios))} (${times(Math.min(...ratios))}–${times(Math.max(...ratios))})`,
    treeResult: times(
      of(({ yardstick, gateway }) => (gateway.node + gateway.postgres) / yardstick.node),
    ),
    budgets,
  };
}

/** The milliseconds that the gateway adds to the yardstick's. */
export function addedLine(work, rounds, part, maxMs) {
  const of = (target) => median(rounds.map((round) => round[target][part]));
  const added = addedMs(rounds, part);
  const middle = median(added);
  return {
    work,
    yardstick: `${of('yardstick').toFixed(2)} ms`,
    node: `${of('gateway').toFixed(2)} ms`,
    result: `${plus(middle)} ms (${plus(Math.min(...added))} to ${plus(Math.max(...added))})`,
    budgets: maxMs === undefined ? [] : [{ text: `≤ +${maxMs} ms`, isMet: middle <= maxMs }],
  };
}

export function figuresOfCpu(rounds) {
  const ratioOf = (part) => rounds.map(({ yardstick, gateway }) => gateway[part] / yardstick.node);
  return [
    { name: 'CPU, Node', unit: '×', values: ratioOf('node'), floor: 0.02 },
    { name: 'CPU, PostgreSQL', unit: '×', values: ratioOf('postgres'), floor: 0.05 },
  ];
}

export function figuresOfLatency(rounds) {
  return [
    { name: 'added p50', unit: 'ms', values: addedMs(rounds, 'p50Ms'), floor: 0.1 },
    { name: 'added p99', unit: 'ms', values: addedMs(rounds, 'p99Ms'), floor: 0.5 },
  ];
}

export function micros(value) {
  return `${Math.round(value)} µs`;
}

export function megabytes(bytes) {
  return `${Math.round(bytes / 1e6)} MB`;
}

export function times(value) {
  return `${value.toFixed(2)} ×`;
}

function addedMs(rounds, part) {
  return rounds.map(({ yardstick, gateway }) => gateway[part] - yardstick[part]);
}

function plus(value) {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(2)}`;
}
