import { expect } from '@jest/globals';

export interface ChatChunk {
  id: string;
  model: string;
  choices: { index: number; delta: { content?: string }; finish_reason: string | null }[];
  usage?: Record<string, unknown> | null;
  error?: Record<string, unknown>;
}

/** A chat stream as its caller received it. */
export interface StreamedAnswer {
  id: string;
  chunks: ChatChunk[];
  last: ChatChunk;
  text: string;
  finishReasons: string[];
  /** True when it ended in `[DONE]`. */
  isDone: boolean;
  /** True when the connection closed before the end of the body. */
  isCut: boolean;
}

/** Reads a body, also one that is cut. */
export async function readAvailable(response: Response): Promise<{ body: string; isCut: boolean }> {
  const decoder = new TextDecoder();
  let body = '';
  if (!response.body) return { body, isCut: false };
  try {
    for await (const piece of response.body as AsyncIterable<Uint8Array>)
      body += decoder.decode(piece, { stream: true });
    return { body, isCut: false };
  } catch (error) {
    expect(String(error)).toContain('terminated');
    return { body, isCut: true };
  }
}

/** Reads a stream to its end; every event must be one line of data. */
export async function readStream(response: Response): Promise<StreamedAnswer> {
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
  const { body, isCut } = await readAvailable(response);
  const frames = body.split('\n\n').filter((frame) => frame !== '' && !frame.startsWith(':'));
  const isDone = frames.at(-1) === 'data: [DONE]';
  const chunks = (isDone ? frames.slice(0, -1) : frames).map((frame) => {
    expect(frame).toMatch(/^data: \{.*\}$/);
    return JSON.parse(frame.slice('data: '.length)) as ChatChunk;
  });
  const choices = chunks.flatMap((one) => one.choices);
  return {
    id: response.headers.get('x-request-id')!,
    chunks,
    last: chunks.at(-1)!,
    text: choices.map((choice) => choice.delta.content ?? '').join(''),
    finishReasons: choices.flatMap((choice) => choice.finish_reason ?? []),
    isDone,
    isCut,
  };
}
