/** A billion USD: leaves room to add up many grants in exact integers. */
export const MAX_GRANT_CREDITS = 1_000_000_000_000_000;

export const MAX_RATE_LIMIT_PER_MINUTE = 1_000_000;
/** Of a key that is made without a limit of its own. */
export const DEFAULT_RATE_LIMIT_PER_MINUTE = 600;
