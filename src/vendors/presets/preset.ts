import type { ChatQuirks } from '../dialects/chat/chat-quirks.js';

/** Self-hosted servers, by how they list the models they have loaded. */
export const LOCAL_SERVERS = ['ollama', 'vllm', 'llamacpp', 'lmstudio', 'sglang'] as const;
export type LocalServer = (typeof LOCAL_SERVERS)[number];

/** Kinds that a preset can offer: those with a common API. */
export const PRESET_KINDS = ['chat', 'embedding', 'transcription'] as const;
type PresetKind = (typeof PRESET_KINDS)[number];

/**
 * A vendor or server with the same API as the gateway's own: the content of a folder's `preset.json`. Its
 * models are rows of the catalogue in `models.json` next to it.
 */
export interface Preset {
  /** The provider's id, which is the first part of its aliases. */
  readonly id: string;
  /** Display name. */
  readonly name: string;
  /** Prefix of its variables: `ACME` has `ACME_API_KEY` and `ACME_BASE_URL`. */
  readonly env: string;
  /**
   * Set for a self-hosted server, which is configured by its address. It has no `models.json`, because its
   * models are read from the server.
   */
  readonly local?: LocalServer;
  /** Ends before `/chat/completions`. */
  readonly base_url: string;
  /** Regional addresses, by the value of `<env>_REGION`. */
  readonly regions?: Readonly<Record<string, string>>;
  readonly key_example: string;
  readonly kinds: readonly [PresetKind, ...PresetKind[]];
  /** Names in public price lists, if not just the id. */
  readonly listed_as?: readonly string[];
  /** The vendor's API documentation. `as_of` is the date of its state, as far as published. */
  readonly reference: readonly string[];
  readonly as_of: string;
  readonly quirks?: ChatQuirks;
  /** Unsupported fields of an embeddings body. */
  readonly embeddings_refuse?: readonly string[];
}
