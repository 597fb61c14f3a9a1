/** An event as Anthropic serializes it. */
export function messagesEvent(type: string, fields: object = {}): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

export function messageStart(usage: object = { input_tokens: 10, output_tokens: 1 }): string {
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-x-20260101',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  };
  return messagesEvent('message_start', { message });
}

export function blockStart(index: number, block: object): string {
  return messagesEvent('content_block_start', { index, content_block: block });
}

export function blockDelta(index: number, delta: object): string {
  return messagesEvent('content_block_delta', { index, delta });
}

export function blockStop(index: number): string {
  return messagesEvent('content_block_stop', { index });
}

export function messageEnd(
  reason: string | null = 'end_turn',
  usage: object | undefined = { output_tokens: 5 },
  sequence: string | null = null,
): string {
  const delta = { stop_reason: reason, stop_sequence: sequence };
  return messagesEvent('message_delta', { delta, usage });
}

export const MESSAGE_STOP = messagesEvent('message_stop');
export const PING = messagesEvent('ping');

/** A block of text, piece by piece. */
export function textBlock(index: number, ...pieces: string[]): string {
  return (
    blockStart(index, { type: 'text', text: '' }) +
    pieces.map((text) => blockDelta(index, { type: 'text_delta', text })).join('') +
    blockStop(index)
  );
}

/** A tool call whose arguments come in pieces. */
export function toolBlock(index: number, id: string, name: string, ...pieces: string[]): string {
  return (
    blockStart(index, { type: 'tool_use', id, name, input: {} }) +
    pieces
      .map((partial_json) => blockDelta(index, { type: 'input_json_delta', partial_json }))
      .join('') +
    blockStop(index)
  );
}

export function errorEvent(type: string, message: string): string {
  return messagesEvent('error', { error: { type, message } });
}
