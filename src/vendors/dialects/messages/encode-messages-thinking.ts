import type { ReasoningControl, SamplingParameters } from '../../../canonical/canonical-request.js';
import { UpstreamError } from '../../upstream-error.js';
import type { MessagesModelTraits } from './messages-vendor.js';
import type { PromptField } from '../../../canonical/prompt-fields.js';

/** The vendor's scale ends where the chat dialect's is half way; both call 1 the model's own. */
const MAX_TEMPERATURE = 1;

/** The least `top_p` that goes with thinking. */
const MIN_THINKING_TOP_P = 0.95;

/** How thinking is asked for. */
export interface MessagesThinking {
  thinking?: object;
  /** `output_config.effort` */
  effort?: string;
  /** Whether the request turns thinking on, which other controls do not go with. */
  isOn: boolean;
  dropped: string[];
}

/** What thinking depends on besides the caller's wish. */
interface ThinkingCircumstances {
  /** What the caller calls the field. */
  name: string;
  /** `max_tokens`, which thinking is part of. */
  maxTokens: number;
  /** Whether the answer has to be a call of a tool. */
  isForced: boolean;
  /** Whether the assistant's last turn has to be taken up without the thought that led to it. */
  lacksThought: boolean;
}

/** The least that the vendor takes for a budget. */
const MIN_BUDGET_TOKENS = 1_024;

/** Efforts, lowest first, and the share of `max_tokens` that each may think. */
const SHARES: Record<string, number> = {
  minimal: 0.1,
  low: 0.2,
  medium: 0.5,
  high: 0.8,
  xhigh: 0.9,
  max: 0.95,
};
const EFFORTS = Object.keys(SHARES);

const OFF: MessagesThinking = { isOn: false, dropped: [] };

/** @throws UpstreamError `unsupported` for an effort that nobody here knows */
export function encodeThinking(
  reasoning: ReasoningControl | undefined,
  traits: MessagesModelTraits,
  circumstances: ThinkingCircumstances,
): MessagesThinking {
  if (!reasoning) return OFF;
  const { name, isForced } = circumstances;
  const { effort, maxTokens, enabled } = reasoning;
  if (enabled === false || effort === 'none' || maxTokens === 0) return turnOff(traits, name);
  if (effort !== undefined && !EFFORTS.includes(effort)) {
    throw new UpstreamError({
      failure: 'unsupported',
      message: `This model knows no effort ${JSON.stringify(effort.slice(0, 80))}; it takes ${EFFORTS.join(', ')} or none.`,
      param: name,
    });
  }
  if (isForced || traits.thinking === 'none') return { ...OFF, dropped: [name] };
  if (traits.thinking === 'budget') return withBudget(reasoning, circumstances);
  return {
    // Some models leave the text of their thoughts out unless asked for it.
    thinking: { type: 'adaptive', display: 'summarized' },
    ...(effort !== undefined && { effort: nearestEffort(effort, traits.efforts) }),
    isOn: true,
    dropped: maxTokens === undefined ? [] : [`${name}.max_tokens`],
  };
}

function turnOff(traits: MessagesModelTraits, name: string): MessagesThinking {
  if (!traits.thinksByDefault) return OFF;
  if (traits.thinkingOff) return { ...OFF, thinking: { type: traits.thinkingOff } };
  const [lowest] = traits.efforts;
  return { ...OFF, ...(lowest !== undefined && { effort: lowest }), dropped: [name] };
}

/** The effort itself, else the next lower one that the model has, else its lowest. */
function nearestEffort(effort: string, efforts: readonly string[]): string {
  const wanted = EFFORTS.indexOf(effort);
  return efforts.findLast((known) => EFFORTS.indexOf(known) <= wanted) ?? efforts[0] ?? effort;
}

function withBudget(
  { effort, maxTokens: asked }: ReasoningControl,
  { name, maxTokens, lacksThought }: ThinkingCircumstances,
): MessagesThinking {
  if (lacksThought) return { ...OFF, dropped: [name] };
  const on = (budget: number, dropped: string[] = []): MessagesThinking => ({
    thinking: { type: 'enabled', budget_tokens: budget },
    isOn: true,
    dropped,
  });
  const dropped: string[] = [];
  if (asked !== undefined) {
    // No more than `max_tokens` can be thought anyway, so a larger budget loses nothing.
    const budget = Math.min(asked, maxTokens - 1);
    if (budget >= MIN_BUDGET_TOKENS) return on(budget);
    dropped.push(`${name}.max_tokens`);
    if (effort === undefined) return { ...OFF, dropped };
  }
  const share = Math.floor(maxTokens * SHARES[effort ?? 'medium']!);
  if (share >= MIN_BUDGET_TOKENS) return on(Math.min(share, maxTokens - 1), dropped);
  // The least budget must leave as much again for the answer.
  if (maxTokens >= 2 * MIN_BUDGET_TOKENS) return on(MIN_BUDGET_TOKENS, dropped);
  return { ...OFF, dropped: [name] };
}

interface MessagesSampling {
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
