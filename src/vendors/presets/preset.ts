import type { ChatQuirks } from '../dialects/chat/chat-quirks.js';

/** Servers that run on one's own machines, by how they tell of the models that they have loaded. */
export const LOCAL_SERVERS = ['ollama', 'vllm', 'llamacpp', 'lmstudio', 'sglang'] as const;
export type LocalServer = (typeof LOCAL_SERVERS)[number];

/** What a preset can offer: the kinds whose API compatible servers have. */
export const PRESET_KINDS = ['chat', 'embedding', 'transcription'] as const;
type PresetKind = (typeof PRESET_KINDS)[number];

/**
 * A vendor or server whose API is the one that callers use here: the content of a folder's
 * `preset.json`. What it offers stands beside it in `models.json`, as rows of the catalogue.
 */
export interface Preset {
  /** Of its provider, which is the first part of its aliases. */
  readonly id: string;
  /** For people. */
  readonly name: string;
  /** What its variables begin with: `ACME` has `ACME_API_KEY` and `ACME_BASE_URL`. */
  readonly env: string;
  /**
   * Present for a server of one's own, which its address configures: its models are read from it, and
   * it has no `models.json`.
   */
  readonly local?: LocalServer;
  /** Ends where `/chat/completions` begins. */
  readonly base_url: string;
  /** For who is far from there: addresses by the value of `<env>_REGION`. */
  readonly regions?: Readonly<Record<string, string>>;
  readonly key_example: string;
  readonly kinds: readonly [PresetKind, ...PresetKind[]];
  /** What public price lists call it, where that is not its id alone. */
  readonly listed_as?: readonly string[];
  /**
   * The vendor's own pages on its API, and the day whose state this is, as far as it was to be had from them
   * and from what others publish of it.
   */
  readonly reference: readonly string[];
  readonly as_of: string;
  readonly quirks?: ChatQuirks;
  /** Fields of an embeddings body that it has not. */
  readonly embeddings_refuse?: readonly string[];
}
