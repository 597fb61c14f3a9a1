import { setFlagsFromString } from 'node:v8';

/** By how much the heap may grow over what the last full collection left, in percent. */
const GROWTH_PERCENT = 30;

/**
 * Lets V8 collect old garbage before the heap has grown by a third. By itself it waits until a small
 * heap has doubled or more; under a thousand streams that was 100 MB of garbage and of buffers that
 * hang on it, for a collection less every ten seconds. To be called when everything is loaded.
 */
export function limitHeapGrowth(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}
