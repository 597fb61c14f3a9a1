import type { QueueOptions } from 'bull';
import type { BullConnections } from './bull-connections.js';
import { BULL_PREFIX } from './bull-turns.js';

/** Bull's settings, the same for every topic. */
export function bullOptions(connections: BullConnections): QueueOptions {
  return {
    prefix: BULL_PREFIX,
    createClient: connections.create,
    defaultJobOptions: {
      // Only Redis's own failures are left to Bull; see BullWorkQueue for those of consumers.
      attempts: 10,
      backoff: { type: 'fixed', delay: 1_000 },
      removeOnComplete: true,
      removeOnFail: true,
    },
    settings: {
      // A killed worker's lock runs out, one look notices, the next hands on: within 10 s.
      lockDuration: 5_000,
      lockRenewTime: 2_000,
      stalledInterval: 2_000,
      maxStalledCount: 10,
      guardInterval: 2_000,
      retryProcessDelay: 500,
    },
  };
}
