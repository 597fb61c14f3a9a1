import type { CanonicalMessage } from '../../../canonical/canonical-request.js';
import { sealOf } from '../../../canonical/canonical-event.js';
import type { ConverseTraits } from './converse-traits.js';
import { signatureOf } from './signature-of.js';

/**
 * Whether the model is to go on in the middle of a turn of tool calls without the thoughts that
 * led to them, because the caller did not keep them or another vendor made them. Models with a
 * thinking budget refuse to think then.
 */
export function continuesUnsealed(
  messages: readonly CanonicalMessage[],
  { sealMaker, redactedSealMaker }: Pick<ConverseTraits, 'sealMaker' | 'redactedSealMaker'>,
): boolean {
  const lastUser = messages.findLastIndex(({ role }) => role === 'user');
  const parts = messages.slice(lastUser + 1).flatMap((message) => message.parts);
  const isSealed = parts.some(
    (part) =>
      part.type === 'reasoning' &&
      (signatureOf(sealMaker, part.seal) ?? sealOf(redactedSealMaker, part.seal)) !== undefined,
  );
  return !isSealed && parts.some(({ type }) => type === 'tool_call');
}
