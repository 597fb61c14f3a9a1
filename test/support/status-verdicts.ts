/** Meaning of a status: the failure, whether the next route is tried, and whether this one is retried first. */
export type StatusVerdict = [status: number, failure: string, fallsBack: boolean, retries: boolean];

/** The statuses with the same meaning in every dialect. */
export const COMMON_VERDICTS: StatusVerdict[] = [
  [400, 'caller', false, false],
  [401, 'operator', true, false],
  [402, 'operator', true, false],
  [403, 'operator', true, false],
  [404, 'operator', true, false],
  [408, 'timeout', true, false],
  [409, 'server', true, false],
  [413, 'context_length', true, false],
  [422, 'caller', false, false],
  [429, 'rate_limited', true, false],
  [500, 'server', true, true],
  [503, 'server', true, true],
  [504, 'timeout', true, false],
  [529, 'server', true, true],
  [301, 'unreadable', true, false],
];
