/** A message of `gen_ai.input.messages` or `gen_ai.output.messages` in the semantic conventions. */
export interface TraceMessage {
  role: string;
  parts: TracePart[];
  finish_reason?: string;
}

export type TracePart =
  | { type: 'text' | 'reasoning' | 'refusal'; content: string }
  | { type: 'tool_call'; id: string; name: string; arguments: string }
  | { type: 'tool_call_response'; id: string; response: string }
  | { type: 'uri'; modality: string; uri: string }
  | BlobPart;

/** Omitted binary data. */
export interface BlobPart {
  type: 'blob';
  modality: string;
  mime_type: string;
  content: '';
  omitted: true;
  /** Both are set only if requested. */
  bytes?: number;
  /** Hexadecimal; null when unknown. */
  sha256?: string | null;
}

/** Limit of all texts in one message list, in characters. */
export const MAX_TEXT_CHARACTERS = 64 * 1024;

/** Cuts texts to keep a message list within its limit. */
export class TextBudget {
  isSpent = false;
  private left: number;

  constructor(private readonly characters = MAX_TEXT_CHARACTERS) {
    this.left = characters;
  }

  /** Characters taken so far. */
  get taken(): number {
    return this.characters - this.left;
  }

  take(text: string): string {
    if (text.length > this.left) this.isSpent = true;
    const taken = text.slice(0, this.left);
    this.left -= taken.length;
    return taken.toWellFormed();
  }
}
