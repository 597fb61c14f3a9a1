import type { CanonicalEvent } from '../../../canonical/canonical-event.js';
import { UpstreamError } from '../../upstream-error.js';
import { AnswerReader } from './answer-reader.js';

/**
 * Reads a whole answer.
 *
 * @throws UpstreamError for an answer that is none, that is empty, or that has no end
 */
export function decodeGenerateContentAnswer(bytes: Buffer): CanonicalEvent[] {
  const events: CanonicalEvent[] = [];
  const reader = new AnswerReader();
  reader.read(parse(bytes), events);
  return [...events, ...reader.end()];
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw new UpstreamError({
      failure: 'unreadable',
      status: 200,
      message: `an answer that is not JSON: ${(error as Error).name}`,
    });
  }
}
