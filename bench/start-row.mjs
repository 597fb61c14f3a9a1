import { median } from './statistics.mjs';

/**
 * Measures the time from process start until `/readyz` succeeds: with an empty data folder (which
 * creates a database), with a used one, and with an external PostgreSQL that has the schema.
 */
export async function runStartRow({ title, maxMs, maxEmbeddedMs }, bench) {
  const rounds = [];
  for (let round = 0; round < bench.settings.startRounds; round++) {
    rounds.push(await bench.measureStarts());
  }
  const line = (name, part, limitMs) => {
    const taken = rounds.map((round) => round[part]);
    const middle = median(taken);
    return {
      work: `${title}, ${name}`,
      node: seconds(middle),
      result: `${seconds(Math.min(...taken))}–${seconds(Math.max(...taken))}`,
      budgets: [{ text: `≤ ${seconds(limitMs)}`, isMet: middle <= limitMs }],
    };
  };
  const figure = (name, part) => ({
    name,
    unit: 's',
    values: rounds.map((round) => round[part] / 1_000),
    floor: 0.15,
  });
  return {
    rounds,
    lines: [
      line('a database at hand', 'atHandMs', maxMs),
      line('embedded', 'embeddedMs', maxEmbeddedMs),
      line('embedded, the very first', 'firstMs', maxEmbeddedMs),
    ],
    figures: [
      figure('a database at hand', 'atHandMs'),
      figure('embedded', 'embeddedMs'),
      figure('embedded, the very first', 'firstMs'),
    ],
  };
}

function seconds(ms) {
  return `${(ms / 1_000).toFixed(2)} s`;
}
