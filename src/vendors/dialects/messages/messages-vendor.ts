import type { CanonicalRequest } from '../../../canonical/canonical-request.js';

/** What one model of a messages vendor takes; the vendor answers anything else with a 400. */
export interface MessagesModelTraits {
  /** Whether it takes `temperature`, `top_p` and `top_k`. */
  sampling: boolean;
  /** Whether `temperature` and `top_p` may stand in one request. */
  temperatureWithTopP: boolean;
  /** How thinking is asked for: with a budget of tokens, with an effort, or not at all. */
  thinking: 'budget' | 'adaptive' | 'none';
  /** Whether it thinks when nothing is said of it. */
  thinksByDefault: boolean;
  /** The `thinking.type` that turns thinking off; undefined where nothing does. */
  thinkingOff: 'disabled' | 'between_tools' | undefined;
  /** The values of `output_config.effort`, lowest first. */
  efforts: readonly string[];
  /** Whether `tool_choice` may demand a tool. */
  forcedToolChoice: boolean;
  /** Whether the conversation may end with a turn of the assistant's, to be continued. */
  prefill: boolean;
  /** Whether it takes `output_config.format` and tools with `strict`. */
  structuredOutput: boolean;
}

/** What the dialect has to know of who is called. */
export interface MessagesVendor {
  /** Who signs reasoning, see `nameSignature`. */
  signatureIssuer: string;
  traits: MessagesModelTraits;
}

/** Whether a model goes on with a turn of the assistant's for this request; no model thinks before that. */
export function continuesTurn({ prompt }: CanonicalRequest, traits: MessagesModelTraits): boolean {
  return traits.prefill && !traits.thinksByDefault && prompt().reasoning === undefined;
}
