import type { DeliveryPolicy } from '../../platform/outbound/delivery-handler.js';
import type { WorkPolicy } from '../../platform/durable-work/work-handler.js';

export const MAX_DESTINATIONS_PER_TENANT = 5;

/** Maximum traces in a batch. */
export const MAX_BATCH_TRACES = 250;
/** Maximum size of a stored batch. The request is at most three times as large. */
export const MAX_BATCH_BYTES = 320 * 1024;

/** How long traces are collected before they are stored, and how many at most. */
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

/** Used while no destination is active, to leave database capacity to requests. */
export const PATIENT_GROUP_LIMITS: TraceGroupLimits = {
  maxAgeMs: 5_000,
  maxTraces: 1_000,
  maxBytes: 4 * MAX_BATCH_BYTES,
};

/** Traces in memory of one process, over all destinations. */
export const MAX_BUFFERED_TRACES = 10_000;
export const MAX_BUFFERED_BYTES = 32 * 1024 * 1024;
/** Traces in memory per tenant. */
export const MAX_BUFFERED_TRACES_PER_TENANT = 4_000;
export const MAX_BUFFERED_BYTES_PER_TENANT = 12 * 1024 * 1024;
/** Finished requests waiting for the destination lookup. */
export const MAX_UNDECIDED_TRACES = 100;

/** Pending deliveries per destination. */
export const MAX_PENDING_DELIVERIES = 1_000;
export const MAX_PENDING_BYTES = 64 * 1024 * 1024;

export const DELIVERY_TIMEOUT_MS = 10_000;
/** Longer than an attempt, so a lease only expires when its process has died. */
export const LEASE_MS = 30_000;
/** Older deliveries are dropped, such as those queued for a hanging receiver. */
export const MAX_DELIVERY_AGE_MS = 3_600_000;

/** Each destination is a group. */
export const DELIVERY_WORK: WorkPolicy = {
  topic: 'broadcast',
  slots: {
    perGroup: 4,
    atOnce: 256,
    bytes: 64 * 1024 * 1024,
    expectedBytes: 3 * MAX_BATCH_BYTES,
    waiting: 100,
    failingRestMs: 1_000,
  },
  tidyEveryMs: 15_000,
  stops: 'after-drain',
  isRepeatable: true,
};

/** Delivery policy for receivers. */
export const DELIVERY_POLICY: DeliveryPolicy = {
  firstRetryMs: 1_000,
  maxRetryAfterMs: 60_000,
  finalStatuses: new Set([400, 401, 403, 404, 405, 410, 413, 415, 422]),
};
