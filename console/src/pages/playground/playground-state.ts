import type { ModelRequest } from '../../calls/build-request';
import type { SentFile, Turn } from '../../calls/conversation';
import { isObject, listAt, parseJson, textAt } from '../../calls/json';
import type { Answer } from '../../calls/read-answer';

/** The conversation with one of the models that stand side by side. */
export interface Lane {
  turns: readonly Turn[];
  /** What is coming in. */
  live: { answer: Answer; firstTokenMs: number | null } | null;
  error: LaneError | null;
  /** What was sent last, for its code. */
  sent: ModelRequest | null;
}

export interface LaneError {
  message: string;
  param: string | null;
  requestId: string | null;
}

/** What a person has put into the playground. */
export interface PlaygroundState {
  system: string;
  /** JSON, as it was typed. */
  tools: string;
  draft: string;
  files: readonly SentFile[];
  lanes: readonly Lane[];
}

export const EMPTY_LANE: Lane = { turns: [], live: null, error: null, sent: null };
export const EMPTY_STATE: PlaygroundState = {
  system: '',
  tools: '',
  draft: '',
  files: [],
  lanes: [],
};

/** What browsers keep for a tab is 5 MB or so. */
const MAX_STORED_CHARACTERS = 2_000_000;

/** The state as text, without the files when they are too large to be kept. */
export function storedState({ lanes, ...rest }: PlaygroundState): string {
  const kept = { ...rest, lanes: lanes.map(({ turns }) => ({ turns })) };
  const text = JSON.stringify(kept);
  if (text.length <= MAX_STORED_CHARACTERS) return text;
  return JSON.stringify(kept, (name, value: unknown) => (name === 'data' ? '' : value));
}

/** @param text null, or what `storedState` made, maybe in an earlier version of the console */
export function restoredState(text: string | null): PlaygroundState {
  const stored = parseJson(text ?? 'null');
  if (!isObject(stored)) return EMPTY_STATE;
  return {
    system: textAt(stored, 'system'),
    tools: textAt(stored, 'tools'),
    draft: textAt(stored, 'draft'),
    files: listAt(stored, 'files').filter(isFile),
    lanes: listAt(stored, 'lanes').map((lane) => ({
      ...EMPTY_LANE,
      turns: listAt(lane, 'turns').filter(isTurn),
    })),
  };
}

/** What can be sent: files that a reload has lost, and turns in which nothing was said, can not. */
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
