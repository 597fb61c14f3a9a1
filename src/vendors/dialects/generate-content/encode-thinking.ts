import type { ReasoningControl } from '../../../canonical/canonical-request.js';
import type { ThinkingControl } from './model-traits.js';

export interface EncodedThinking {
  thinkingConfig: ThinkingConfig | undefined;
  /** False when the model can only approximate the options. */
  isExact: boolean;
}

export interface ThinkingConfig {
  includeThoughts?: true;
  thinkingBudget?: number;
  thinkingLevel?: string;
}

/** The vendor's own budgets for efforts, for models with a budget. */
const BUDGETS: ReadonlyMap<string, number> = new Map([
  ['minimal', 1_024],
  ['low', 1_024],
  ['medium', 8_192],
  ['high', 24_576],
]);

const LEVELS: ReadonlyMap<string, string> = new Map([
  ['minimal', 'MINIMAL'],
  ['low', 'LOW'],
  ['medium', 'MEDIUM'],
  ['high', 'HIGH'],
]);

/** Efforts above the vendor's highest. */
const BEYOND_HIGH = new Set(['xhigh', 'max']);

/** Encodes the caller's reasoning options for a model. Thoughts are shown to callers who set any. */
export function encodeThinking(
  control: ReasoningControl | undefined,
  thinking: ThinkingControl | undefined,
): EncodedThinking {
  if (!control) return { thinkingConfig: undefined, isExact: true };
  const isOff =
    control.enabled === false || control.effort === 'none' || (control.maxTokens ?? 1) <= 0;
  if (!thinking) return { thinkingConfig: undefined, isExact: isOff };
  const encoded =
    thinking.by === 'budget'
      ? byBudget(control, thinking, isOff)
      : byLevel(control, thinking, isOff);
  const thinkingConfig = { ...(!isOff && { includeThoughts: true as const }), ...encoded.config };
  return { thinkingConfig, isExact: encoded.isExact };
}

interface Amount {
  config: ThinkingConfig;
  isExact: boolean;
}

function byBudget(
  { effort, maxTokens }: ReasoningControl,
  { min, max, canBeOff }: Extract<ThinkingControl, { by: 'budget' }>,
  isOff: boolean,
): Amount {
  if (isOff) return { config: { thinkingBudget: canBeOff ? 0 : min }, isExact: canBeOff };
  const wanted = maxTokens ?? budgetOf(effort, max);
  if (wanted === undefined) return { config: {}, isExact: effort === undefined };
  const thinkingBudget = Math.min(Math.max(wanted, min), max);
  const isExact = maxTokens === undefined ? BUDGETS.has(effort ?? '') : thinkingBudget === wanted;
  return { config: { thinkingBudget }, isExact };
}

function budgetOf(effort: string | undefined, max: number): number | undefined {
  return BEYOND_HIGH.has(effort ?? '') ? max : BUDGETS.get(effort ?? '');
}

function byLevel(
  { effort, maxTokens }: ReasoningControl,
  { lowest }: Extract<ThinkingControl, { by: 'level' }>,
  isOff: boolean,
): Amount {
  if (isOff) return { config: { thinkingLevel: lowest }, isExact: false };
  if (effort === undefined) {
    if (maxTokens === undefined) return { config: {}, isExact: true };
    return { config: { thinkingLevel: levelOf(maxTokens) }, isExact: false };
  }
  const level = BEYOND_HIGH.has(effort) ? 'HIGH' : LEVELS.get(effort);
  if (level === undefined) return { config: {}, isExact: false };
  const thinkingLevel = level === 'MINIMAL' ? lowest : level;
  const isAsRequested = LEVELS.get(effort) === thinkingLevel;
  return { config: { thinkingLevel }, isExact: isAsRequested && maxTokens === undefined };
}

/** Returns the lowest level whose budget is at least `budget`, for models without a budget. */
function levelOf(budget: number): string {
  if (budget <= 1_024) return 'LOW';
  return budget <= 8_192 ? 'MEDIUM' : 'HIGH';
}
