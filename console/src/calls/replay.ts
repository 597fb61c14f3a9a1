import type { Turn } from './conversation';
import { textAt } from './json';

interface LoggedMessage {
  role: string;
  parts: readonly object[];
}

/** Logged content of a request as a conversation that can be sent again. */
export interface Replay {
  system: string;
  turns: Turn[];
  /** Media types or URIs of files, which the log does not store. */
  missing: string[];
}

/** Converts the prompt of a content log entry. */
export function replayOf(prompt: {
  instructions: readonly object[];
  messages: readonly LoggedMessage[];
}): Replay {
  const missing: string[] = [];
  const systems = [textOf(prompt.instructions, missing)];
  const turns: Turn[] = [];
  for (const { role, parts } of prompt.messages) {
    const text = textOf(parts, missing);
    const results = ofType(parts, 'tool_call_response').map((part) => ({
      id: textAt(part, 'id'),
      text: textAt(part, 'response'),
    }));
    if (results.length > 0) turns.push({ role: 'tool', results });
    if (role === 'system' || role === 'developer') systems.push(text);
    else if (role === 'assistant') {
      const toolCalls = ofType(parts, 'tool_call').map((part) => ({
        id: textAt(part, 'id'),
        name: textAt(part, 'name'),
        arguments: textAt(part, 'arguments'),
      }));
      const answer = { text, reasoning: '', toolCalls, finishReason: 'stop', call: null };
      turns.push({ role: 'assistant', ...answer });
    } else if (text !== '') turns.push({ role: 'user', text, files: [] });
  }
  return {
    system: systems.filter((text) => text !== '').join('\n\n'),
    turns: joinResults(turns),
    missing,
  };
}

/** Merges consecutive tool results, which some APIs send as separate messages. */
function joinResults(turns: readonly Turn[]): Turn[] {
  return turns.reduce<Turn[]>((joined, turn) => {
    const last = joined.at(-1);
    if (turn.role === 'tool' && last?.role === 'tool') {
      return [
        ...joined.slice(0, -1),
        { role: 'tool', results: [...last.results, ...turn.results] },
      ];
    }
    return [...joined, turn];
  }, []);
}

function textOf(parts: readonly object[], missing: string[]): string {
  for (const part of parts) {
    const type = textAt(part, 'type');
    if (type === 'blob') missing.push(textAt(part, 'mime_type') || 'a file');
    if (type === 'uri') missing.push(textAt(part, 'uri'));
  }
  return [...ofType(parts, 'text'), ...ofType(parts, 'refusal')]
    .map((part) => textAt(part, 'content'))
    .join('\n');
}

function ofType(parts: readonly object[], type: string): object[] {
  return parts.filter((part) => textAt(part, 'type') === type);
}
