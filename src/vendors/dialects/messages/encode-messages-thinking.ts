import type { ReasoningControl } from '../../../canonical/canonical-request.js';
import {
  samplingEncoder,
  type SamplingField,
  type SamplingParameters,
} from '../../../canonical/prompt-field-table.js';
import type { JsonObject } from '../../../platform/http/json-body.js';
import { unsupported } from '../../upstream-error.js';
import type { MessagesModelTraits } from './messages-vendor.js';

/** The vendor's range is half of the chat dialect's; 1 is the model's default in both. */
const MAX_TEMPERATURE = 1;

/** Lowest `top_p` allowed together with thinking. */
const MIN_THINKING_TOP_P = 0.95;

/** The encoded thinking options. */
export interface MessagesThinking {
  thinking?: object;
  /** `output_config.effort` */
  effort?: string;
  /** True when thinking is on, which excludes some other controls. */
  isOn: boolean;
  dropped: string[];
}

/** Conditions for thinking besides the caller's options. */
interface ThinkingCircumstances {
  /** The caller's name for the field. */
  name: string;
  /** `max_tokens`, which includes thinking. */
  maxTokens: number;
  /** True when the answer must be a tool call. */
  isForced: boolean;
  /** True when the last assistant turn is continued without its initial reasoning. */
  lacksReasoning: boolean;
}

/** The vendor's minimum budget. */
const MIN_BUDGET_TOKENS = 1_024;

/** Efforts, lowest first, with their share of `max_tokens` for thinking. */
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

/** @throws UpstreamError `unsupported` for an unknown effort */
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
    throw unsupported(
      name,
      `The effort ${JSON.stringify(effort.slice(0, 80))} is unknown to this model; use ${EFFORTS.join(', ')} or none.`,
    );
  }
  if (isForced || traits.thinking === 'none') return { ...OFF, dropped: [name] };
  if (traits.thinking === 'budget') return withBudget(reasoning, circumstances);
  return {
    // Some models omit the text of their reasoning by default.
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

/** Returns the effort, or the next lower one that the model supports, or its lowest. */
function nearestEffort(effort: string, efforts: readonly string[]): string {
  const wanted = EFFORTS.indexOf(effort);
  return efforts.findLast((known) => EFFORTS.indexOf(known) <= wanted) ?? efforts[0] ?? effort;
}

function withBudget(
  { effort, maxTokens: asked }: ReasoningControl,
  { name, maxTokens, lacksReasoning }: ThinkingCircumstances,
): MessagesThinking {
  if (lacksReasoning) return { ...OFF, dropped: [name] };
  const on = (budget: number, dropped: string[] = []): MessagesThinking => ({
    thinking: { type: 'enabled', budget_tokens: budget },
    isOn: true,
    dropped,
  });
  const dropped: string[] = [];
  if (asked !== undefined) {
    // `max_tokens` caps thinking anyway, so lowering a larger budget loses nothing.
    const budget = Math.min(asked, maxTokens - 1);
    if (budget >= MIN_BUDGET_TOKENS) return on(budget);
    dropped.push(`${name}.max_tokens`);
    if (effort === undefined) return { ...OFF, dropped };
  }
  const share = Math.floor(maxTokens * SHARES[effort ?? 'medium']!);
  if (share >= MIN_BUDGET_TOKENS) return on(Math.min(share, maxTokens - 1), dropped);
  // The minimum budget must leave as much again for the answer.
  if (maxTokens >= 2 * MIN_BUDGET_TOKENS) return on(MIN_BUDGET_TOKENS, dropped);
  return { ...OFF, dropped: [name] };
}

interface MessagesSampling {
  fields: JsonObject;
  dropped: SamplingField[];
}

const encodeAccepted = samplingEncoder('messages');

/**
 * Encodes sampling parameters. Values that the vendor would reject are dropped and reported, never
 * changed. A default value that cannot be sent is dropped silently, because the effect is the same.
 *
 * @param stopName the caller's name for the stop sequences
 * @throws UpstreamError `unsupported` for a stop sequence of white space
 */
export function encodeSampling(
  { temperature, topP, topK, stop, ...others }: SamplingParameters,
  traits: MessagesModelTraits,
  isThinking: boolean,
  stopName: string,
): MessagesSampling {
  const accepted: SamplingParameters = others;
  const dropped: SamplingField[] = [];
  const isFree = traits.sampling && !isThinking;

  if (temperature !== undefined && temperature !== 1) {
    if (isFree && temperature <= MAX_TEMPERATURE) accepted.temperature = temperature;
    else dropped.push('temperature');
  }
  if (topP !== undefined && topP !== 1) {
    const isTaken = traits.sampling && (!isThinking || topP >= MIN_THINKING_TOP_P);
    const isAlone = accepted.temperature === undefined || traits.temperatureWithTopP;
    if (isTaken && isAlone) accepted.topP = topP;
    else dropped.push('topP');
  }
  if (topK !== undefined) {
    if (isFree) accepted.topK = topK;
    else dropped.push('topK');
  }
  const stops = readStops(stop, stopName);
  if (stops.length > 0) accepted.stop = stops;
  return { fields: encodeAccepted(accepted), dropped };
}

/** Skips empty sequences, which never match. The vendor does not support white space. */
function readStops(stop: readonly string[] | undefined, name: string): string[] {
  const stops = (stop ?? []).filter((sequence) => sequence !== '');
  if (stops.every((sequence) => sequence.trim() !== '')) return stops;
  throw unsupported(
    name,
    'This model does not support stop sequences of white space; include a visible character.',
  );
}
