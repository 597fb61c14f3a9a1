/** The maker of the seals that this dialect spells without a maker's name. */
export const NATIVE_MAKER = 'openai';
