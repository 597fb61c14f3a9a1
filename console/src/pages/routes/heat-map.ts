export interface HeatStep {
  at: string;
  answered: number;
  failed: number;
  latency_ms: number | null;
}

/** From nothing known to bad. */
export type Heat = 'none' | 'good' | 'fair' | 'poor' | 'bad';

/** Of calls that ended well or not; an answer that broke off is both, so a share is 1 at most. */
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

/** The begin of each step from `start` to `now`, in ms. */
export function stepsOf(start: string, stepSeconds: number, now: number): number[] {
  const times: number[] = [];
  for (let at = Date.parse(start); at <= now; at += stepSeconds * 1_000) times.push(at);
  return times;
}

/** What is to be read of a route as a whole: the calls of all its steps. */
export function sumOfSteps(steps: readonly HeatStep[]): { answered: number; failed: number } {
  return {
    answered: steps.reduce((sum, { answered }) => sum + answered, 0),
    failed: steps.reduce((sum, { failed }) => sum + failed, 0),
  };
}
