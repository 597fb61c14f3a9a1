/** The items of an answer, as callers get them. */
export type OutputItem = MessageItem | ReasoningItem | FunctionCallItem | CustomToolCallItem;

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

export interface MessageItem {
  id: string;
  type: 'message';
  status: ItemStatus;
  role: 'assistant';
  content: (OutputTextPart | RefusalPart)[];
}

export interface OutputTextPart {
  type: 'output_text';
  text: string;
  annotations: [];
  logprobs: unknown[];
}

export interface RefusalPart {
  type: 'refusal';
  refusal: string;
}

export interface ReasoningItem {
  id: string;
  type: 'reasoning';
  summary: { type: 'summary_text'; text: string }[];
  /** The vendor's seal, to be sent back with the next turn. */
  encrypted_content?: string;
}

export interface FunctionCallItem {
  id: string;
  type: 'function_call';
  status: ItemStatus;
  call_id: string;
  name: string;
  arguments: string;
  /** A vendor's seal on the call itself. */
  encrypted_content?: string;
}

export interface CustomToolCallItem {
  id: string;
  type: 'custom_tool_call';
  status: ItemStatus;
  call_id: string;
  name: string;
  input: string;
  encrypted_content?: string;
}
