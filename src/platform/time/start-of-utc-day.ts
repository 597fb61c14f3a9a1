import { DAY_MS } from './durations.js';

/** Midnight (UTC) at which the instant's day began. */
export function startOfUtcDay(instant: Date): Date {
  return new Date(Math.floor(instant.getTime() / DAY_MS) * DAY_MS);
}
