/** What a person and a model say to each other, whichever API carries it. */
export const SURFACES = ['chat', 'messages', 'responses'] as const;
export type Surface = (typeof SURFACES)[number];

/** Whether a kind of call, as the log of requests names it, is one of a conversation. */
export function isSurface(name: string | undefined): name is Surface {
  return SURFACES.some((surface) => surface === name);
}

/** A file that goes along with what somebody says. */
export interface SentFile {
  name: string;
  /** As `image/png`. */
  type: string;
  bytes: number;
  /** Base64; '' of one that was too large to be kept when the page was loaded again. */
  data: string;
}

export interface ToolCall {
  id: string;
  name: string;
  /** JSON, as the model wrote it. */
  arguments: string;
}

export interface UserTurn {
  role: 'user';
  text: string;
  files: SentFile[];
}

export interface AssistantTurn {
  role: 'assistant';
  text: string;
  reasoning: string;
  toolCalls: ToolCall[];
  /** Null: it broke off. */
  finishReason: string | null;
  call: CallFacts | null;
}

export interface ToolTurn {
  role: 'tool';
  results: { id: string; text: string }[];
}

export type Turn = UserTurn | AssistantTurn | ToolTurn;

/** What the browser knows of a call; what it cost, the log of requests knows. */
export interface CallFacts {
  model: string;
  requestId: string | null;
  firstTokenMs: number | null;
  tookMs: number;
}

/** What is asked beside the conversation. Texts as they were typed; '' is not sent. */
export interface CallSettings {
  temperature: string;
  top_p: string;
  max_tokens: string;
  seed: string;
  stop: string;
  effort: string;
  tool_choice: string;
  stream: boolean;
}

/** Nothing but the conversation, streamed. */
export const NO_SETTINGS: CallSettings = {
  temperature: '',
  top_p: '',
  max_tokens: '',
  seed: '',
  stop: '',
  effort: '',
  tool_choice: '',
  stream: true,
};

/** The calls that wait for a result before the model can go on. */
export function openToolCalls(turns: readonly Turn[]): readonly ToolCall[] {
  const last = turns.at(-1);
  return last?.role === 'assistant' ? last.toolCalls : [];
}
