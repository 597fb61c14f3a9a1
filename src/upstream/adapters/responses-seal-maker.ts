/**
 * Whose seals stand in the Responses dialect as they are, because its vendor made them; see
 * `canonical/reasoning-seal.ts`. Those of other makers keep their name in front.
 */
export const RESPONSES_SEAL_MAKER = 'openai';
