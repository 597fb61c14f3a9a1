import type { components } from '../../api/schema';

/** A gateway process, as of its last heartbeat. */
export type Instance = components['schemas']['Instance'];
