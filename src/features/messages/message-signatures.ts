import { nameSignature, signatureBy } from '../../canonical/canonical-event.js';
import { REDACTED } from '../../vendors/dialects/messages/thinking-blocks.js';
import { NATIVE_MAKER } from './messages.vendor.js';

/**
 * How signatures on reasoning are encoded for callers. The native vendor's are unchanged; others are
 * prefixed with their vendor, which native ones, being base64, cannot be.
 *
 * - a signature on visible text: `signature` of a `thinking` block
 * - a native signature that is itself the encrypted thought: `data` of a `redacted_thinking` block;
 *   internally prefixed with `redacted:`
 * - another vendor's signature without text: also `data`
 * - a signature on a tool call, for which this dialect has no field: `data` of a `redacted_thinking`
 *   block before the call, with the call's id
 */
const NAMED = /^[a-z][a-z-]{0,30}:/;
const CALL = /^call:([\w-]*):/;

/** Returns the canonical signature of a `signature`; undefined when empty. */
export function readSignature(signature: string): string | undefined {
  if (signature === '') return undefined;
  return NAMED.test(signature) ? signature : nameSignature(NATIVE_MAKER, signature);
}

/** Returns the canonical signature of a `data`, and its tool call if any. */
export function readRedactedData(data: string): { signature: string; toolCallId?: string } {
  const call = CALL.exec(data);
  if (call) {
    const toolCallId = Buffer.from(call[1]!, 'base64url').toString();
    return { signature: data.slice(call[0].length), toolCallId };
  }
  return { signature: NAMED.test(data) ? data : nameSignature(NATIVE_MAKER, REDACTED + data) };
}

/** Returns the `signature` of shown text. */
export function encodeSignature(signature: string): string {
  return signatureBy(NATIVE_MAKER, signature) ?? signature;
}

/** Returns the `data` of a block without text; undefined for a plain signature. */
export function encodeRedactedData(signature: string): string | undefined {
  const native = signatureBy(NATIVE_MAKER, signature);
  if (native === undefined) return signature;
  return native.startsWith(REDACTED) ? native.slice(REDACTED.length) : undefined;
}

/** Returns whether the signature is a redacted thought, and so cannot sign the preceding text. */
export function isRedactedThought(signature: string): boolean {
  return signatureBy(NATIVE_MAKER, signature)?.startsWith(REDACTED) === true;
}

/** Returns the `data` for a tool call's signature. */
export function encodeCallSignature(toolCallId: string, signature: string): string {
  return `call:${Buffer.from(toolCallId).toString('base64url')}:${signature}`;
}
