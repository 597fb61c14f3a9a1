import type { CanonicalRequest } from '../../../canonical/canonical-request.js';

/** Features of one model of a messages vendor, which rejects any others with a 400. */
export interface MessagesModelTraits {
  /** Supports `temperature`, `top_p` and `top_k`. */
  sampling: boolean;
  /** Accepts `temperature` and `top_p` in the same request. */
  temperatureWithTopP: boolean;
  /** How thinking is configured: with a token budget, with an effort, or not at all. */
  thinking: 'budget' | 'adaptive' | 'none';
  /** Thinks by default. */
  thinksByDefault: boolean;
  /** The `thinking.type` that turns thinking off; undefined when it cannot be turned off. */
  thinkingOff: 'disabled' | 'between_tools' | undefined;
  /** The values of `output_config.effort`, lowest first. */
  efforts: readonly string[];
  /** `tool_choice` can require a call. */
  forcedToolChoice: boolean;
  /** Continues an assistant message at the end of the conversation. */
  prefill: boolean;
  /** Supports `output_config.format` and tools with `strict`. */
  structuredOutput: boolean;
}

/** Vendor properties that the dialect depends on. */
export interface MessagesVendor {
  /** The maker that signs reasoning, see `nameSignature`. */
  signatureIssuer: string;
  traits: MessagesModelTraits;
}

/** Returns whether a model continues the assistant message of this request; no model thinks before that. */
export function continuesTurn({ prompt }: CanonicalRequest, traits: MessagesModelTraits): boolean {
  return traits.prefill && !traits.thinksByDefault && prompt().reasoning === undefined;
}
