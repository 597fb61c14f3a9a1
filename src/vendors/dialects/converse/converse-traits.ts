/**
 * How a model's reasoning is controlled.
 *
 * - `none`: not at all
 * - `budget`: `thinking` with a number of tokens; off by default
 * - `adaptive`: `thinking` that the model sizes itself, guided by an effort. `off` is how to disable it:
 *   leave the field `out`, the value `disabled`, or `never`
 * - `reasoning-config`: `reasoningConfig` with an effort of at most `medium` (`high` requires omitting the
 *   output limit)
 * - `flat-effort`, `nested-effort`: `reasoning_effort`, or `reasoning.effort`
 */
export type ReasoningStyle =
  | { kind: 'none' | 'budget' | 'reasoning-config' | 'flat-effort' | 'nested-effort' }
  | {
      kind: 'adaptive';
      off: 'out' | 'disabled' | 'never';
      /** Its reasoning is only shown on request. */
      isHidden: boolean;
    };

/**
 * Features of one model behind the Converse API. The API is the same for all of them, but each model
 * rejects some of its fields. The adapter assigns traits to models.
 */
export interface ConverseTraits {
  /** The maker of its reasoning signatures; see `nameSignature`. */
  signatureIssuer: string;
  /** The maker of its redacted reasoning, under a name for this API's encoding. */
  redactedIssuer: string;
  reasoning: ReasoningStyle;
  /** Accepts both temperature and top_p, one of them at a time, or none. */
  samplers: 'both' | 'one' | 'none';
  /** Where top_k belongs: its own field, one in `inferenceConfig`, or nowhere. */
  topK: 'field' | 'inference-config' | 'none';
  /** Accepts any stop sequences, only those that are not blank, or none. */
  stops: 'any' | 'not-blank' | 'none';
  /** Can enforce a JSON schema (`outputConfig.textFormat`). */
  nativeSchemas: boolean;
  /** Supports `strict` tools. */
  strictTools: boolean;
  /** Tool calls that can be forced: none, any tool, or also a named one. */
  forcedTools: 'none' | 'any' | 'any-or-named';
  /** Can be limited to one call at a time by the model's own `tool_choice` field. */
  singleToolCalls: boolean;
  /** Supports marking failed tool results. */
  toolResultStatus: boolean;
  /** Accepts tool call ids of the API's alphabet, or exactly nine letters and digits. */
  toolIds: 'any' | 'nine-characters';
  cachePoints: 'everywhere' | 'not-in-tools' | 'none';
  /** Supports one-hour cache points. */
  longCache: boolean;
  /** Reports which stop sequence ended its answer. */
  namesStopSequence: boolean;
}
