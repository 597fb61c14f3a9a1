export const MAX_DESTINATIONS_PER_TENANT = 5;

/** A batch is sent when it has so many traces, or bytes, or its oldest trace is so old. */
export const MAX_BATCH_TRACES = 250;
/** As they are kept; what is sent is at most thrice as long. */
export const MAX_BATCH_BYTES = 320 * 1024;
export const MAX_BATCH_AGE_MS = 1_000;

/** What one process keeps in memory, for all destinations together. */
export const MAX_BUFFERED_TRACES = 10_000;
export const MAX_BUFFERED_BYTES = 32 * 1024 * 1024;
/** Requests that have ended before it was known where their traces are to go. */
export const MAX_UNDECIDED_TRACES = 100;

/** What waits in the database for one destination. */
export const MAX_PENDING_DELIVERIES = 1_000;
export const MAX_PENDING_BYTES = 64 * 1024 * 1024;

export const MAX_ATTEMPTS = 5;
/** Before the second attempt; it doubles with each that follows. */
export const FIRST_RETRY_MS = 1_000;
export const DELIVERY_TIMEOUT_MS = 10_000;
/** Longer than an attempt takes: by then a process that took a delivery and died has lost it. */
export const LEASE_MS = 30_000;
/** A delivery that has waited longer than this is dropped, such as those behind a hanging receiver. */
export const MAX_DELIVERY_AGE_MS = 3_600_000;

/** Posts at once, by one process. */
export const MAX_POSTS_PER_DESTINATION = 4;
export const MAX_POSTS = 256;
