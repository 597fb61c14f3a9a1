import { performance } from 'node:perf_hooks';

/** Milliseconds that some work took. */
export async function timed(work) {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}

/** Milliseconds as seconds with one digit behind the point. */
export function seconds(ms) {
  return (ms / 1_000).toFixed(1);
}
