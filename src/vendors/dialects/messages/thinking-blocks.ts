import { nameSeal, sealOf } from '../../../canonical/canonical-event.js';

/** Tells the sealed thought itself from the signature of a thought that can be read. */
const REDACTED = 'redacted:';

/** Names the signature of a `thinking` block. */
export function sealThinking(maker: string, signature: string): string {
  return nameSeal(maker, signature);
}

/** Names the data of a `redacted_thinking` block. */
export function sealRedactedThinking(maker: string, data: string): string {
  return nameSeal(maker, REDACTED + data);
}

/** The block that a seal came from; undefined when another vendor made it, or there is none. */
export function unsealThinking(
  maker: string,
  named: string | undefined,
  text: string,
): ThinkingBlock | undefined {
  const seal = sealOf(maker, named);
  if (seal === undefined || seal === '') return undefined;
  return seal.startsWith(REDACTED)
    ? { type: 'redacted_thinking', data: seal.slice(REDACTED.length) }
    : { type: 'thinking', thinking: text, signature: seal };
}

type ThinkingBlock =
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'redacted_thinking'; data: string };
