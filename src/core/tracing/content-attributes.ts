import { GEN_AI } from './gen-ai-attributes.js';
import type { SpanDraft } from './span-draft.js';

export const CONTENT_TRUNCATED = 'gateway.content.truncated';

/** Attributes that hold, or tell of, what was said. */
const CONTENT_ATTRIBUTES: ReadonlySet<string> = new Set([
  GEN_AI.systemInstructions,
  GEN_AI.inputMessages,
  GEN_AI.outputMessages,
  CONTENT_TRUNCATED,
]);

/** The same spans for those who are not to see prompts and answers. */
export function withoutContent(drafts: readonly SpanDraft[]): SpanDraft[] {
  return drafts.map((draft) => {
    const entries = Object.entries(draft.attributes);
    const kept = entries.filter(([name]) => !CONTENT_ATTRIBUTES.has(name));
    return kept.length === entries.length
      ? draft
      : { ...draft, attributes: Object.fromEntries(kept) };
  });
}
