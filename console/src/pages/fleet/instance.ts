import type { components } from '../../api/schema';

/** A process of the gateway, as it tells of itself. */
export type Instance = components['schemas']['Instance'];
