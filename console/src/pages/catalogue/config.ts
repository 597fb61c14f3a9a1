import type { components } from '../../api/schema';

/** The effective configuration of an instance. */
export type Config = components['schemas']['EffectiveConfig'];
export type Model = components['schemas']['PricedModel'];
