/**
 * How a model is told to reason.
 *
 * - `none`: it cannot be told
 * - `budget`: `thinking` with a number of tokens; off unless asked for
 * - `adaptive`: `thinking` that the model measures out itself, steered by an effort. `off` says
 *   what a caller who wants none gets: the field left `out`, the word `disabled`, or `never`
 * - `reasoning-config`: `reasoningConfig` with an effort of at most `medium` (`high` demands that
 *   the output limit be left out)
 * - `flat-effort`, `nested-effort`: `reasoning_effort`, or `reasoning.effort`
 */
export type ReasoningStyle =
  | { kind: 'none' | 'budget' | 'reasoning-config' | 'flat-effort' | 'nested-effort' }
  | {
      kind: 'adaptive';
      off: 'out' | 'disabled' | 'never';
      /** Its reasoning is only shown when asked for. */
      isHidden: boolean;
    };

/**
 * What one model behind the Converse API takes. The API is the same for all of them, yet most
 * fields are refused by one model or another. Which model has which traits is the adapter's.
 */
export interface ConverseTraits {
  /** Who makes the signatures of its reasoning; see `nameSignature`. */
  signatureIssuer: string;
  /** Who encrypts its redacted reasoning, spelled as only this API reads it. */
  redactedIssuer: string;
  reasoning: ReasoningStyle;
  /** Temperature and top_p: both at once, one of them, or none. */
  samplers: 'both' | 'one' | 'none';
  /** Where top_k goes, if anywhere: a field of its own, or one in `inferenceConfig`. */
  topK: 'field' | 'inference-config' | 'none';
  /** Stop sequences: any, any that are not blank, or none. */
  stops: 'any' | 'not-blank' | 'none';
  /** Whether answers can be held to a JSON schema (`outputConfig.textFormat`). */
  nativeSchemas: boolean;
  /** Whether tools can be `strict`. */
  strictTools: boolean;
  /** Which tool calls can be forced: none, that of any tool, or also that of a named one. */
  forcedTools: 'none' | 'any' | 'any-or-named';
  /** Whether the model's own `tool_choice` field can limit it to one call at a time. */
  singleToolCalls: boolean;
  /** Whether a failed tool result can be marked as such. */
  toolResultStatus: boolean;
  /** Ids of tool calls: the API's alphabet, or exactly nine letters and digits. */
  toolIds: 'any' | 'nine-characters';
  cachePoints: 'everywhere' | 'not-in-tools' | 'none';
  /** Whether cache points can be kept for an hour. */
  longCache: boolean;
  /** Whether the model says which stop sequence ended its answer. */
  namesStopSequence: boolean;
}
