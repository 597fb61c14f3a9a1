import type { CanonicalMessage } from '../../../canonical/canonical-request.js';
import { UpstreamError } from '../../upstream-error.js';
import { encodeBlocks, type Block } from './encode-messages-blocks.js';

export interface Turn {
  role: 'user' | 'assistant';
  content: Block[];
}

/** Stands for a turn of the user's that says nothing, which the vendor refuses. */
const NOTHING_SAID = '.';

/**
 * The conversation as the vendor wants it: the system's messages apart, wherever they stood, then
 * turns of the user and the assistant that alternate, beginning with the user's.
 *
 * @throws UpstreamError `unsupported` for parts that the dialect has no place for
 */
export function encodeTurns(
  messages: readonly CanonicalMessage[],
  sealMaker: string,
): { system: Block[]; turns: Turn[] } {
  const system: Block[] = [];
  const turns: Turn[] = [];
  for (const { role, parts } of messages) {
    const content = parts.flatMap((part) => encodeBlocks(part, sealMaker));
    if (role === 'system') {
      system.push(...content.map(assertText));
      continue;
    }
    if (role === 'assistant' && content.length === 0) continue;
    const turnRole = role === 'assistant' ? 'assistant' : 'user';
    const last = turns.at(-1);
    if (last?.role === turnRole) last.content.push(...content);
    else turns.push({ role: turnRole, content });
  }
  if (turns[0]?.role !== 'user') turns.unshift({ role: 'user', content: [] });
  for (const turn of turns) if (turn.role === 'user') turn.content = asUserContent(turn.content);
  trimPrefill(turns);
  return { system, turns };
}

/** Whether the answer is to continue what the assistant has begun to say. */
export function endsWithPrefill(turns: readonly Turn[]): boolean {
  return turns.at(-1)?.role === 'assistant';
}

/** Results of tools have to come before anything else that the user says. */
function asUserContent(content: Block[]): Block[] {
  if (content.length === 0) return [{ type: 'text', text: NOTHING_SAID }];
  const isResult = ({ type }: Block): boolean => type === 'tool_result';
  return [...content.filter(isResult), ...content.filter((block) => !isResult(block))];
}

/** A beginning must not end in white space. */
function trimPrefill(turns: readonly Turn[]): void {
  const block = endsWithPrefill(turns) ? turns.at(-1)?.content.at(-1) : undefined;
  if (block?.type === 'text') block.text = (block.text as string).trimEnd();
}

function assertText(block: Block): Block {
  if (block.type === 'text') return block;
  throw new UpstreamError({
    failure: 'unsupported',
    message: 'This model takes nothing but text in system messages.',
    param: 'messages',
  });
}
