import { nameSeal, sealOf } from '../../canonical/canonical-event.js';
import { NATIVE_MAKER } from './messages.vendor.js';

/**
 * How seals on reasoning are spelled to callers. The native maker's are as the vendor wrote them;
 * those of others keep their maker's name in front, which no native seal can have, being base64.
 *
 * - a seal on shown text: `signature` of a `thinking` block
 * - a native seal that is the encrypted thought itself: `data` of a `redacted_thinking` block;
 *   inside, `redacted:` tells it from a signature
 * - another maker's seal without text: `data` too
 * - a seal on a tool call, for which this dialect has no place: `data` of a `redacted_thinking`
 *   block before the call, with the call's id
 */
const NAMED = /^[a-z][a-z-]{0,30}:/;
const REDACTED = 'redacted:';
const CALL = /^call:([\w-]*):/;

/** The canonical seal of a caller's `signature`; undefined for an empty one. */
export function readSignature(signature: string): string | undefined {
  if (signature === '') return undefined;
  return NAMED.test(signature) ? signature : nameSeal(NATIVE_MAKER, signature);
}

/** The canonical seal of a caller's `data`, and the tool call that it belongs to, if any. */
export function readRedactedData(data: string): { seal: string; toolCallId?: string } {
  const call = CALL.exec(data);
  if (call) {
    const toolCallId = Buffer.from(call[1]!, 'base64url').toString();
    return { seal: data.slice(call[0].length), toolCallId };
  }
  return { seal: NAMED.test(data) ? data : nameSeal(NATIVE_MAKER, REDACTED + data) };
}

/** The `signature` for a seal on shown text. */
export function spellSignature(seal: string): string {
  return sealOf(NATIVE_MAKER, seal) ?? seal;
}

/** The `data` for a seal that stands for a whole block without text; undefined for a mere signature. */
export function spellRedactedData(seal: string): string | undefined {
  const native = sealOf(NATIVE_MAKER, seal);
  if (native === undefined) return seal;
  return native.startsWith(REDACTED) ? native.slice(REDACTED.length) : undefined;
}

/** Whether the seal is a thought of its own and cannot be the signature of the text before it. */
export function isRedactedThought(seal: string): boolean {
  return sealOf(NATIVE_MAKER, seal)?.startsWith(REDACTED) === true;
}

/** The `data` for the seal of a tool call. */
export function spellCallSeal(toolCallId: string, seal: string): string {
  return `call:${Buffer.from(toolCallId).toString('base64url')}:${seal}`;
}
