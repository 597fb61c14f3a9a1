import type { ChatQuirks } from '../dialects/chat/chat-quirks.js';

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
  /** Ends where `/chat/completions` begins. */
  readonly base_url: string;
  /** For who is far from there: addresses by the value of `<env>_REGION`. */
  readonly regions?: Readonly<Record<string, string>>;
  readonly key_example: string;
  readonly kinds: readonly [PresetKind, ...PresetKind[]];
  /** The vendor's own pages that this was checked against, and on which day. */
  readonly reference: readonly string[];
  readonly checked: string;
  readonly quirks?: ChatQuirks;
  /** Fields of an embeddings body that it has not. */
  readonly embeddings_refuse?: readonly string[];
}
