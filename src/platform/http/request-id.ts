import { randomUUID } from 'node:crypto';
import { DAY_MS, utcMonthOf } from '../time/dates.js';

/** 'mont': other UUIDs start with it once in 2^32. The migration PartitionByMonth has the same constant. */
const MARK = '6d6f6e74';
const FIRST_YEAR = 2020;
/** Ten bits of months, until 2105, and eighteen of the time in the month, in steps of 10 s. */
const MAX_MONTH = 2 ** 10 - 1;
const STEPS = 2 ** 18;
const STEP_MS = (31 * DAY_MS) / STEPS;

/** The common prefix of ids in the same step of time. */
let current = { startMs: 0, endMs: 0, prefix: '' };

/**
 * Creates a request id: a version 4 UUID whose first half encodes the month of the request and the time within 10 s. Log
 * rows and ledger entries thus find the partition of their month by the id alone, which keeps them unique
 * (docs/decisions/0038). The other 62 bits are random.
 */
export function mintRequestId(nowMs = Date.now()): string {
  if (nowMs < current.startMs || nowMs >= current.endMs) current = stepOf(nowMs);
  return current.prefix + randomUUID().slice(19);
}

function stepOf(nowMs: number): typeof current {
  const { start, end } = utcMonthOf(new Date(nowMs));
  const count = (start.getUTCFullYear() - FIRST_YEAR) * 12 + start.getUTCMonth();
  const month = Math.min(Math.max(count, 0), MAX_MONTH);
  const step = Math.floor((nowMs - start.getTime()) / STEP_MS);
  const time = (month * STEPS + step).toString(16).padStart(7, '0');
  return {
    startMs: start.getTime() + step * STEP_MS,
    endMs: Math.min(start.getTime() + (step + 1) * STEP_MS, end.getTime()),
    prefix: `${MARK}-${time.slice(0, 4)}-4${time.slice(4)}-`,
  };
}
