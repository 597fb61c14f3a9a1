import { expect } from '@jest/globals';

/** The fields of a stream event that tests read. */
export interface MessageEvent {
  type: string;
  index?: number;
  message?: Record<string, unknown>;
  content_block?: Record<string, unknown>;
  delta?: Record<string, unknown>;
  usage?: Record<string, unknown>;
  error?: Record<string, unknown>;
}

/** Parses a stream; each event must be a name and one line of data that agree. */
export function parseMessageEvents(stream: string): MessageEvent[] {
  expect(stream).toMatch(/^$|\n\n$/);
  return stream
    .split('\n\n')
    .filter((frame) => frame !== '' && !frame.startsWith(':'))
    .map((frame) => {
      const [, name, data] = /^event: (\w+)\ndata: (\{[^\n\r]*\})$/.exec(frame) ?? [];
      const event = JSON.parse(data ?? 'null') as MessageEvent;
      expect(event.type).toBe(name);
      return event;
    });
}

/** Assembles a message like a client and checks the order of its events. */
export function assembleMessage(events: readonly MessageEvent[]): Record<string, unknown> {
  let message: Record<string, unknown> | undefined;
  const content: Record<string, unknown>[] = [];
  let open: { index: number; json: string } | undefined;
  for (const event of events) {
    if (event.type !== 'message_start') expect(message).toBeDefined();
    switch (event.type) {
      case 'message_start':
        expect(message).toBeUndefined();
        message = { ...event.message };
        break;
      case 'content_block_start':
        expect(open).toBeUndefined();
        expect(event.index).toBe(content.length);
        open = { index: content.length, json: '' };
        content.push({ ...event.content_block });
        break;
      case 'content_block_delta': {
        expect(event.index).toBe(open?.index);
        const block = content.at(-1)!;
        for (const [key, value] of Object.entries(event.delta!)) {
          if (key === 'type') continue;
          if (key === 'partial_json') open!.json += String(value);
          else block[key] = String(block[key]) + String(value);
        }
        break;
      }
      case 'content_block_stop':
        expect(event.index).toBe(open?.index);
        if (open!.json !== '') content.at(-1)!.input = JSON.parse(open!.json) as unknown;
        open = undefined;
        break;
      case 'message_delta':
        expect(open).toBeUndefined();
        message = { ...message, ...event.delta, usage: event.usage };
        break;
      default:
        expect(event.type).toBe('message_stop');
    }
  }
  return { ...message, content };
}
