import type { ReasoningControl, CanonicalMessage } from '../../../canonical/canonical-request.js';
import type { JsonObject } from '../../../platform/http/json-body.js';
import type { ConverseTraits, ReasoningStyle } from './converse-traits.js';
import { signatureBy } from '../../../canonical/canonical-event.js';

/** A request's wish for reasoning as one model takes it. */
export interface ConverseReasoning {
  /** Whether `thinking` was switched on; other fields are refused then. */
  isThinking: boolean;
  /** For `additionalModelRequestFields`. */
  fields: JsonObject;
  /** For `outputConfig`. */
  effort?: string;
  /** What of the wish could not be kept. */
  lost: ReadonlySet<'reasoning' | 'budget'>;
}

const MIN_BUDGET_TOKENS = 1_024;
const DEFAULT_EFFORT = 'medium';

/** Share of the output limit that an effort may spend on reasoning. */
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
  /** The limit that reasoning counts towards. */
  maxOutputTokens: number;
  /** False where the conversation is such that a model with a budget must not think. */
  canThink: boolean;
}

export function converseReasoning(
  control: ReasoningControl | undefined,
  { reasoning: style }: Pick<ConverseTraits, 'reasoning'>,
  { maxOutputTokens, canThink }: ConverseReasoningOptions,
): ConverseReasoning {
  const wish = control && readWish(control);
  if (!wish) return { isThinking: false, fields: {}, lost: new Set() };
  if (wish.isOff) return switchOff(style);
  return canThink ? switchOn(style, wish, maxOutputTokens) : NOT_AT_ALL;
}

/** Asked for, but not to be had. */
const NOT_AT_ALL: ConverseReasoning = {
  isThinking: false,
  fields: {},
  lost: new Set(['reasoning']),
};

interface Wish {
  isOff: boolean;
  effort: string | undefined;
  budgetTokens: number | undefined;
}

function readWish({ effort, maxTokens, enabled }: ReasoningControl): Wish | undefined {
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

function switchOn(style: ReasoningStyle, wish: Wish, maxOutputTokens: number): ConverseReasoning {
  const effort = wish.effort === 'minimal' ? 'low' : wish.effort;
  // An effort says it all; beside it a budget is a second word for the same.
  const lost = new Set<'budget'>(
    wish.budgetTokens !== undefined && wish.effort === undefined ? ['budget'] : [],
  );
  const on = (fields: JsonObject, rest: Partial<ConverseReasoning> = {}): ConverseReasoning => ({
    isThinking: fields.thinking !== undefined,
    fields,
    lost,
    ...rest,
  });
  switch (style.kind) {
    case 'none':
      return NOT_AT_ALL;
    case 'budget':
      return withBudget(wish, maxOutputTokens);
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
 * A budget that the caller names is sent as it is, for the vendor to judge; one that follows from
 * an effort leaves room for the answer, and where there is none, the model does not reason.
 */
function withBudget({ effort, budgetTokens }: Wish, maxOutputTokens: number): ConverseReasoning {
  const share = BUDGET_SHARES.get(effort ?? '') ?? DEFAULT_BUDGET_SHARE;
  const derived = Math.max(MIN_BUDGET_TOKENS, Math.floor(maxOutputTokens * share));
  if (budgetTokens === undefined && derived >= maxOutputTokens) {
    return NOT_AT_ALL;
  }
  const budget_tokens = budgetTokens ?? derived;
  return {
    isThinking: true,
    fields: { thinking: { type: 'enabled', budget_tokens } },
    lost: new Set(),
  };
}

/**
 * The signature that this issuer made; undefined when another one made it. Signatures are
 * base64: what holds a colon is a thought that the maker has encrypted as a whole. It comes from
 * the maker's own API, and this one has another spelling for such thoughts.
 */
export function signatureOf(issuer: string, named: string | undefined): string | undefined {
  const signature = signatureBy(issuer, named);
  return signature?.includes(':') === true ? undefined : signature;
}

/**
 * Whether the model is to go on in the middle of a turn of tool calls without the thoughts that
 * led to them, because the caller did not keep them or another vendor made them. Models with a
 * thinking budget refuse to think then.
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
