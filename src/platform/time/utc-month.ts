/** A calendar month in UTC. */
export interface UtcMonth {
  /** Its first instant. */
  readonly start: Date;
  /** The first instant of the next month. */
  readonly end: Date;
}

export function utcMonthOf(instant: Date): UtcMonth {
  const year = instant.getUTCFullYear();
  const month = instant.getUTCMonth();
  return { start: new Date(Date.UTC(year, month)), end: new Date(Date.UTC(year, month + 1)) };
}
