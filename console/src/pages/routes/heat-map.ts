export interface HeatStep {
  at: string;
  answered: number;
  failed: number;
  latency_ms: number | null;
}

/** Failure rate classes. */
export type Heat = 'none' | 'good' | 'fair' | 'poor' | 'bad';

/** Returns the share of failed calls. Interrupted answers count as answered and failed, so the total is adjusted. */
export function shareFailed({ answered, failed }: HeatStep): number {
  return failed === 0 ? 0 : failed / Math.max(failed, answered + failed);
}

export function heatOf(step: HeatStep | undefined): Heat {
  if (!step || step.answered + step.failed === 0) return 'none';
  const share = shareFailed(step);
  if (share === 0) return 'good';
  if (share < 0.05) return 'fair';
  return share < 0.25 ? 'poor' : 'bad';
}

/** Returns the start of each step from `start` to `now`, in ms. */
export function stepsOf(start: string, stepSeconds: number, now: number): number[] {
  const times: number[] = [];
  for (let at = Date.parse(start); at <= now; at += stepSeconds * 1_000) times.push(at);
  return times;
}

/** Sums the calls of a route over all steps. */
export function sumOfSteps(steps: readonly HeatStep[]): { answered: number; failed: number } {
  return {
    answered: steps.reduce((sum, { answered }) => sum + answered, 0),
    failed: steps.reduce((sum, { failed }) => sum + failed, 0),
  };
}
