import { performance } from 'node:perf_hooks';

/** Returns the duration of some work in milliseconds. */
export async function timed(work) {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}

/** Formats milliseconds as seconds with one decimal. */
export function seconds(ms) {
  return (ms / 1_000).toFixed(1);
}
