import type { components } from '../../api/schema';

/** What an instance works by. */
export type Config = components['schemas']['EffectiveConfig'];
export type Model = components['schemas']['PricedModel'];
