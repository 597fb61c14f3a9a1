import { nameSignature, signatureBy } from '../../../canonical/canonical-event.js';

/** Prefix that distinguishes encrypted reasoning from the signature of readable reasoning. */
export const REDACTED = 'redacted:';

/** Names the data of a `redacted_thinking` block. */
export function nameRedactedThinking(issuer: string, data: string): string {
  return nameSignature(issuer, REDACTED + data);
}

/** Returns the block that a signature came from; undefined when another vendor made it, or there is none. */
export function readThinkingBlock(
  issuer: string,
  named: string | undefined,
  text: string,
): ThinkingBlock | undefined {
  const signature = signatureBy(issuer, named);
  if (signature === undefined || signature === '') return undefined;
  return signature.startsWith(REDACTED)
    ? { type: 'redacted_thinking', data: signature.slice(REDACTED.length) }
    : { type: 'thinking', thinking: text, signature };
}

type ThinkingBlock =
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'redacted_thinking'; data: string };
