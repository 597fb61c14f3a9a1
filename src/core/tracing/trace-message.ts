/** A message as the semantic conventions have it in `gen_ai.input.messages` and `…output.messages`. */
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

/** Bytes that are left out. */
export interface BlobPart {
  type: 'blob';
  modality: string;
  mime_type: string;
  content: '';
  omitted: true;
  /** Both are only there where they were asked for. */
  bytes?: number;
  /** Hex; null: not known. */
  sha256?: string | null;
}

/** Characters of all texts in one list of messages; the rest is cut off. */
export const MAX_TEXT_CHARACTERS = 64 * 1024;

/** Cuts texts so that a list of messages stays within its bound. */
export class TextBudget {
  isSpent = false;
  private left: number;

  constructor(private readonly characters = MAX_TEXT_CHARACTERS) {
    this.left = characters;
  }

  /** Characters that were taken so far. */
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
