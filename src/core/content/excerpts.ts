import type { TriggeredGuardrail } from '../../canonical/billable-request.js';
import type { Span } from '../guardrails/finder.js';
import type { Guardrail } from '../guardrails/guardrail.js';
import { compileTenantPattern } from '../guardrails/guardrail-rule.js';
import { textsOf, type RequestContent } from './content-draft.js';

/** Characters on either side of a match. */
const CONTEXT = 40;
const MAX_EXCERPT = 400;
/** Larger patterns and longer texts are too slow here; they get no excerpt. */
const MAX_PATTERN_SIZE = 300;
const MAX_TEXT = 32 * 1024;

/** The text around a guardrail's match. */
export interface Excerpt {
  readonly guardrail_id: string;
  readonly direction: string;
  readonly excerpt: string;
}

/**
 * Repeats guardrails' searches to show their matches. Omits a guardrail that changed and no longer
 * matches, or that checks only the length.
 */
export function findExcerpts(
  content: RequestContent,
  triggered: readonly TriggeredGuardrail[],
  guardrails: readonly Guardrail[],
): Excerpt[] {
  return triggered.flatMap(({ guardrailId, direction }) => {
    const guardrail = guardrails.find(({ id }) => id === guardrailId);
    if (!guardrail) return [];
    for (const text of textsOf(content, direction === 'output' ? 'output' : 'input')) {
      const span = findIn(text, guardrail);
      if (span) return { guardrail_id: guardrailId, direction, excerpt: cut(text, span) };
    }
    return [];
  });
}

function findIn(text: string, { finders, patterns }: Guardrail): Span | undefined {
  for (const finder of finders) {
    const span = finder.find(text, 0);
    if (span) return span;
  }
  if (text.length > MAX_TEXT) return undefined;
  for (const pattern of patterns) {
    if (pattern.size > MAX_PATTERN_SIZE) continue;
    const matcher = compileTenantPattern(pattern).matcher(text);
    if (matcher.find()) return { start: matcher.start(), end: matcher.end() };
  }
  return undefined;
}

function cut(text: string, { start, end }: Span): string {
  const from = Math.max(0, start - CONTEXT);
  const to = Math.min(text.length, end + CONTEXT, from + MAX_EXCERPT);
  return `${from > 0 ? '…' : ''}${text.slice(from, to)}${to < text.length ? '…' : ''}`.toWellFormed();
}
