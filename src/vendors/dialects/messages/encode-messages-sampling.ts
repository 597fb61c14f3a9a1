import type { SamplingParameters } from '../../../canonical/canonical-request.js';
import type { PromptField } from '../../../canonical/prompt-fields.js';
import { UpstreamError } from '../../upstream-error.js';
import type { MessagesModelTraits } from './messages-vendor.js';

/** The vendor's scale ends where the chat dialect's is half way; both call 1 the model's own. */
const MAX_TEMPERATURE = 1;
/** The least `top_p` that goes with thinking. */
const MIN_THINKING_TOP_P = 0.95;

export interface MessagesSampling {
  fields: { temperature?: number; top_p?: number; top_k?: number; stop_sequences?: string[] };
  dropped: PromptField[];
}

/**
 * Sampling parameters. One that the vendor would refuse is left out and named, never changed into
 * another value; one that asks for the default is left out where it cannot be sent, which is the same.
 *
 * @param stopName what the caller calls the stop sequences
 * @throws UpstreamError `unsupported` for a stop sequence of white space
 */
export function encodeSampling(
  { temperature, topP, topK, stop }: SamplingParameters,
  traits: MessagesModelTraits,
  isThinking: boolean,
  stopName: string,
): MessagesSampling {
  const fields: MessagesSampling['fields'] = {};
  const dropped: PromptField[] = [];
  const isFree = traits.sampling && !isThinking;

  if (temperature !== undefined && temperature !== 1) {
    if (isFree && temperature <= MAX_TEMPERATURE) fields.temperature = temperature;
    else dropped.push('temperature');
  }
  if (topP !== undefined && topP !== 1) {
    const isTaken = traits.sampling && (!isThinking || topP >= MIN_THINKING_TOP_P);
    const isAlone = fields.temperature === undefined || traits.temperatureWithTopP;
    if (isTaken && isAlone) fields.top_p = topP;
    else dropped.push('topP');
  }
  if (topK !== undefined) {
    if (isFree) fields.top_k = topK;
    else dropped.push('topK');
  }
  const stops = readStops(stop, stopName);
  if (stops.length > 0) fields.stop_sequences = stops;
  return { fields, dropped };
}

/** An empty sequence stops nowhere; one of white space would, which the vendor cannot do. */
function readStops(stop: readonly string[] | undefined, name: string): string[] {
  const stops = (stop ?? []).filter((sequence) => sequence !== '');
  if (stops.every((sequence) => sequence.trim() !== '')) return stops;
  throw new UpstreamError({
    failure: 'unsupported',
    message: 'This model cannot stop at white space; give it a sequence with a visible character.',
    param: name,
  });
}
