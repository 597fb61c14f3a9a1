import type { ModelRequest } from '../../calls/build-request';
import type { SentFile, Turn } from '../../calls/conversation';
import { isObject, listAt, parseJson, textAt } from '../../calls/json';
import type { Answer } from '../../calls/read-answer';

/** The conversation with one of the models being compared. */
export interface Thread {
  turns: readonly Turn[];
  /** The answer being streamed. */
  live: { answer: Answer; firstTokenMs: number | null } | null;
  error: ThreadError | null;
  /** The last request, for the code dialog. */
  sent: ModelRequest | null;
}

export interface ThreadError {
  message: string;
  param: string | null;
  requestId: string | null;
}

/** Everything entered in the playground. */
export interface PlaygroundState {
  system: string;
  /** JSON as typed. */
  tools: string;
  draft: string;
  files: readonly SentFile[];
  threads: readonly Thread[];
}

export const EMPTY_THREAD: Thread = { turns: [], live: null, error: null, sent: null };
export const EMPTY_STATE: PlaygroundState = {
  system: '',
  tools: '',
  draft: '',
  files: [],
  threads: [],
};

/** Browsers limit session storage to about 5 MB. */
const MAX_STORED_CHARACTERS = 2_000_000;

/** Serializes the state, without file contents if it is too large. */
export function storedState({ threads, ...rest }: PlaygroundState): string {
  const stored = { ...rest, threads: threads.map(({ turns }) => ({ turns })) };
  const text = JSON.stringify(stored);
  if (text.length <= MAX_STORED_CHARACTERS) return text;
  return JSON.stringify(stored, (name, value: unknown) => (name === 'data' ? '' : value));
}

/** Restores a stored state. Drops invalid parts, such as those of an earlier version. */
export function restoredState(text: string | null): PlaygroundState {
  const stored = parseJson(text ?? 'null');
  if (!isObject(stored)) return EMPTY_STATE;
  return {
    system: textAt(stored, 'system'),
    tools: textAt(stored, 'tools'),
    draft: textAt(stored, 'draft'),
    files: listAt(stored, 'files').filter(isFile),
    threads: listAt(stored, 'threads').map((thread) => ({
      ...EMPTY_THREAD,
      turns: listAt(thread, 'turns').filter(isTurn),
    })),
  };
}

/** Drops what cannot be sent: files lost in a reload and empty answers. */
export function sendableTurns(turns: readonly Turn[]): Turn[] {
  return turns.flatMap((turn): Turn[] => {
    if (turn.role === 'user') {
      return [{ ...turn, files: turn.files.filter(({ data }) => data !== '') }];
    }
    const isEmpty = turn.role === 'assistant' && turn.text === '' && turn.toolCalls.length === 0;
    return isEmpty ? [] : [turn];
  });
}

function isFile(value: unknown): value is SentFile {
  return (
    isObject(value) &&
    ['name', 'type', 'data'].every((name) => typeof value[name] === 'string') &&
    typeof value['bytes'] === 'number'
  );
}

function isTurn(value: unknown): value is Turn {
  switch (textAt(value, 'role')) {
    case 'user':
      return Array.isArray(listAt(value, 'files')) && listAt(value, 'files').every(isFile);
    case 'assistant':
      return isObject(value) && Array.isArray(value['toolCalls']) && 'call' in value;
    case 'tool':
      return isObject(value) && Array.isArray(value['results']);
    default:
      return false;
  }
}
