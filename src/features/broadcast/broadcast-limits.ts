import type { DeliveryPolicy } from '../../platform/outbound/delivery-engine.js';

export const MAX_DESTINATIONS_PER_TENANT = 5;

/** What is sent at once has at most so many traces, or bytes. */
export const MAX_BATCH_TRACES = 250;
/** As they are kept; what is sent is at most thrice as long. */
export const MAX_BATCH_BYTES = 320 * 1024;

/** How long traces are gathered before they are written down, and how many of them at most. */
export interface TraceGroupLimits {
  readonly maxAgeMs: number;
  readonly maxTraces: number;
  readonly maxBytes: number;
}

export const GROUP_LIMITS: TraceGroupLimits = {
  maxAgeMs: 1_000,
  maxTraces: MAX_BATCH_TRACES,
  maxBytes: MAX_BATCH_BYTES,
};

/** While nobody takes them there is no hurry: the database has more to do for the requests. */
export const PATIENT_GROUP_LIMITS: TraceGroupLimits = {
  maxAgeMs: 5_000,
  maxTraces: 1_000,
  maxBytes: 4 * MAX_BATCH_BYTES,
};

/** What one process keeps in memory, for all destinations together. */
export const MAX_BUFFERED_TRACES = 10_000;
export const MAX_BUFFERED_BYTES = 32 * 1024 * 1024;
/** Of it for one tenant. */
export const MAX_BUFFERED_TRACES_PER_TENANT = 4_000;
export const MAX_BUFFERED_BYTES_PER_TENANT = 12 * 1024 * 1024;
/** Requests that have ended before it was known where their traces are to go. */
export const MAX_UNDECIDED_TRACES = 100;

/** What waits in the database for one destination. */
export const MAX_PENDING_DELIVERIES = 1_000;
export const MAX_PENDING_BYTES = 64 * 1024 * 1024;

export const DELIVERY_TIMEOUT_MS = 10_000;
/** Longer than an attempt takes: by then a process that took a delivery and died has lost it. */
export const LEASE_MS = 30_000;
/** A delivery that has waited longer than this is dropped, such as those behind a hanging receiver. */
export const MAX_DELIVERY_AGE_MS = 3_600_000;

/** How receivers are treated. */
export const DELIVERY_POLICY: DeliveryPolicy = {
  lanes: {
    perLane: 4,
    atOnce: 256,
    bytes: 64 * 1024 * 1024,
    expectedBytes: 3 * MAX_BATCH_BYTES,
    waiting: 100,
    failingRestMs: 1_000,
  },
  firstRetryMs: 1_000,
  maxRetryAfterMs: 60_000,
  finalStatuses: new Set([400, 401, 403, 404, 405, 410, 413, 415, 422]),
};
