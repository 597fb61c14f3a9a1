import type { ReasoningControl, CanonicalMessage } from '../../../canonical/canonical-request.js';
import type { JsonObject } from '../../../platform/http/json-body.js';
import type { ConverseTraits, ReasoningStyle } from './converse-traits.js';
import { signatureBy } from '../../../canonical/canonical-event.js';

/** A request's reasoning options, as one model accepts them. */
export interface ConverseReasoning {
  /** True when `thinking` is on, which excludes some other fields. */
  isThinking: boolean;
  /** For `additionalModelRequestFields`. */
  fields: JsonObject;
  /** For `outputConfig`. */
  effort?: string;
  /** The options that could not be honored. */
  lost: ReadonlySet<'reasoning' | 'budget'>;
}

const MIN_BUDGET_TOKENS = 1_024;
const DEFAULT_EFFORT = 'medium';

/** Share of the output limit for reasoning, by effort. */
const BUDGET_SHARES: ReadonlyMap<string, number> = new Map([
  ['minimal', 0.1],
  ['low', 0.2],
  ['medium', 0.5],
  ['high', 0.8],
  ['xhigh', 0.9],
  ['max', 0.95],
]);
const DEFAULT_BUDGET_SHARE = 0.5;

interface ConverseReasoningOptions {
  /** The limit that includes reasoning. */
  maxOutputTokens: number;
  /** False when the conversation rules out thinking for models with a budget. */
  canThink: boolean;
}

export function converseReasoning(
  control: ReasoningControl | undefined,
  { reasoning: style }: Pick<ConverseTraits, 'reasoning'>,
  { maxOutputTokens, canThink }: ConverseReasoningOptions,
): ConverseReasoning {
  const options = control && readOptions(control);
  if (!options) return { isThinking: false, fields: {}, lost: new Set() };
  if (options.isOff) return switchOff(style);
  return canThink ? switchOn(style, options, maxOutputTokens) : UNAVAILABLE;
}

/** Requested, but unavailable. */
const UNAVAILABLE: ConverseReasoning = {
  isThinking: false,
  fields: {},
  lost: new Set(['reasoning']),
};

interface ReasoningOptions {
  isOff: boolean;
  effort: string | undefined;
  budgetTokens: number | undefined;
}

function readOptions({
  effort,
  maxTokens,
  enabled,
}: ReasoningControl): ReasoningOptions | undefined {
  if (enabled === undefined && effort === undefined && maxTokens === undefined) return undefined;
  const isOff = enabled === false || effort === 'none' || maxTokens === 0;
  return { isOff, effort, budgetTokens: maxTokens };
}

function switchOff(style: ReasoningStyle): ConverseReasoning {
  const off = (fields: JsonObject = {}): ConverseReasoning => ({
    isThinking: false,
    fields,
    lost: new Set(),
  });
  switch (style.kind) {
    case 'none':
    case 'budget':
      return off();
    case 'reasoning-config':
      return off({ reasoningConfig: { type: 'disabled' } });
    case 'nested-effort':
      return off({ reasoning: { effort: 'none' } });
    case 'flat-effort':
      return { ...off({ reasoning_effort: 'low' }), lost: new Set(['reasoning']) };
    case 'adaptive':
      if (style.off === 'out') return off();
      if (style.off === 'disabled') return off({ thinking: { type: 'disabled' } });
      return { ...off(), effort: 'low', lost: new Set(['reasoning']) };
  }
}

function switchOn(
  style: ReasoningStyle,
  options: ReasoningOptions,
  maxOutputTokens: number,
): ConverseReasoning {
  const effort = options.effort === 'minimal' ? 'low' : options.effort;
  // With an effort, a budget is redundant.
  const lost = new Set<'budget'>(
    options.budgetTokens !== undefined && options.effort === undefined ? ['budget'] : [],
  );
  const on = (fields: JsonObject, rest: Partial<ConverseReasoning> = {}): ConverseReasoning => ({
    isThinking: fields.thinking !== undefined,
    fields,
    lost,
    ...rest,
  });
  switch (style.kind) {
    case 'none':
      return UNAVAILABLE;
    case 'budget':
      return withBudget(options, maxOutputTokens);
    case 'adaptive': {
      const thinking = {
        thinking: { type: 'adaptive', ...(style.isHidden && { display: 'summarized' }) },
      };
      return on(thinking, effort !== undefined ? { effort } : {});
    }
    case 'reasoning-config': {
      const isKept = effort === undefined || effort === 'low' || effort === 'medium';
      return on(
        {
          reasoningConfig: {
            type: 'enabled',
            maxReasoningEffort: isKept ? (effort ?? DEFAULT_EFFORT) : 'medium',
          },
        },
        isKept ? {} : { lost: new Set(['reasoning']) },
      );
    }
    case 'flat-effort':
      return on({ reasoning_effort: effort ?? DEFAULT_EFFORT });
    case 'nested-effort':
      return on({ reasoning: { effort: effort ?? DEFAULT_EFFORT } });
  }
}

/**
 * Sends the caller's budget unchanged, for the vendor to judge. A budget derived from an effort leaves room
 * for the answer; without room, the model does not reason.
 */
function withBudget(
  { effort, budgetTokens }: ReasoningOptions,
  maxOutputTokens: number,
): ConverseReasoning {
  const share = BUDGET_SHARES.get(effort ?? '') ?? DEFAULT_BUDGET_SHARE;
  const derived = Math.max(MIN_BUDGET_TOKENS, Math.floor(maxOutputTokens * share));
  if (budgetTokens === undefined && derived >= maxOutputTokens) {
    return UNAVAILABLE;
  }
  const budget_tokens = budgetTokens ?? derived;
  return {
    isThinking: true,
    fields: { thinking: { type: 'enabled', budget_tokens } },
    lost: new Set(),
  };
}

/**
 * Returns the signature that this issuer made; undefined for another one's. Signatures are base64, so a
 * colon marks fully encrypted reasoning. That comes from the maker's own API, which encodes it differently
 * from this one.
 */
export function signatureOf(issuer: string, named: string | undefined): string | undefined {
  const signature = signatureBy(issuer, named);
  return signature?.includes(':') === true ? undefined : signature;
}

/**
 * Returns whether the model must continue a turn of tool calls without the reasoning that led to them,
 * because the caller dropped it or another vendor made it. Models with a thinking budget then refuse to
 * think.
 */
export function continuesUnsigned(
  messages: readonly CanonicalMessage[],
  { signatureIssuer, redactedIssuer }: Pick<ConverseTraits, 'signatureIssuer' | 'redactedIssuer'>,
): boolean {
  const lastUser = messages.findLastIndex(({ role }) => role === 'user');
  const parts = messages.slice(lastUser + 1).flatMap((message) => message.parts);
  const isSigned = parts.some(
    (part) =>
      part.type === 'reasoning' &&
      (signatureOf(signatureIssuer, part.signature) ??
        signatureBy(redactedIssuer, part.signature)) !== undefined,
  );
  return !isSigned && parts.some(({ type }) => type === 'tool_call');
}
