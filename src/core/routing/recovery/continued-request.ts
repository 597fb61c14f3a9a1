import type { CanonicalRequest } from '../../../canonical/canonical-request.js';
import { parseJsonBody } from '../../../platform/http/json-body.js';
import { spliceMembers } from '../../../platform/http/top-level-members.js';
import type { CutText } from './cut-tail.js';

interface AddedTurn {
  readonly role: 'assistant' | 'user';
  readonly text: string;
}

/** Output limits of the Chat and Messages dialects. */
const LIMIT_FIELDS = ['max_tokens', 'max_completion_tokens'];

/** For text in most languages. */
const BYTES_PER_TOKEN = 4;

const CUT_OFF =
  'Your reply above was cut off by a lost connection. Go on with it from exactly where it stops, in the same ' +
  'language, style and format, as if it had never stopped: no greeting, no remark, and nothing of it again. ';
const NEXT =
  'Begin with exactly the following characters, which come next, and go on from there:\n\n';
const FIRST = 'Begin your reply with exactly the following characters, and go on from there:\n\n';

/**
 * Builds the request for the rest of an answer. Appends the text so far, without its tail, as an
 * assistant turn, and asks the model to repeat the tail.
 *
 * @param isPrefilled whether the model continues an assistant turn without instruction; others get an
 * instruction
 * @param usedOutputTokens part of the caller's output limit that is used up
 */
export function continuedRequest(
  request: CanonicalRequest,
  { said, tail }: CutText,
  isPrefilled: boolean,
  usedOutputTokens: number,
): CanonicalRequest {
  const turns: AddedTurn[] = said === '' ? [] : [{ role: 'assistant', text: said }];
  if (said === '' && tail !== '') turns.push({ role: 'user', text: FIRST + tail });
  else if (said !== '' && !isPrefilled) turns.push({ role: 'user', text: CUT_OFF + NEXT + tail });
  const { promptSize, maxOutputTokens } = request;
  const bytes = turns.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  return {
    ...request,
    body: withTurns(request, turns, usedOutputTokens),
    usedOutputTokens,
    isPrefilled: isPrefilled && said !== '',
    maxOutputTokens: maxOutputTokens && Math.max(1, maxOutputTokens - usedOutputTokens),
    promptSize: { ...promptSize, tokens: promptSize.tokens + Math.ceil(bytes / BYTES_PER_TOKEN) },
    prompt: () => {
      const prompt = request.prompt();
      const added = turns.map(({ role, text }) => ({
        role,
        parts: [{ type: 'text' as const, text }],
      }));
      return { ...prompt, messages: [...prompt.messages, ...added] };
    },
  };
}

/** The answer must be decoded, so a Responses body is never sent: the vendor gets its prompt. */
function withTurns(
  { dialect, body }: CanonicalRequest,
  turns: readonly AddedTurn[],
  usedOutputTokens: number,
): CanonicalRequest['body'] {
  if (dialect === 'responses') return body;
  const { bytes, members, value } = body;
  const messages: readonly unknown[] = Array.isArray(value.messages) ? value.messages : [];
  const added = turns.map(({ role, text }) => ({ role, content: text }));
  const edits = new Map([['messages', JSON.stringify([...messages, ...added])]]);
  // A thinking budget must stay below the limit.
  for (const field of value.thinking == null ? LIMIT_FIELDS : []) {
    const limit = value[field];
    if (typeof limit === 'number') edits.set(field, String(Math.max(1, limit - usedOutputTokens)));
  }
  return parseJsonBody(spliceMembers(bytes, members, edits), { maxParts: Infinity });
}
