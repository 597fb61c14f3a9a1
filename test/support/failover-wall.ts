import type { ServerResponse } from 'node:http';
import {
  continuingAnswer,
  errorAnswer,
  hangAnswer,
  politeAnswer,
  resetAnswer,
  startFakeOpenAi,
  type FakeAnswer,
  type FakeOpenAi,
  type RecordedCall,
} from './fake-openai.js';

/** The text of every healthy answer: sixty words, so that missing ones are noticed. */
export const WALL_TEXT =
  'A gateway earns trust on bad days: when a vendor slows down, hangs up, speaks nonsense or says nothing at all, its callers should ' +
  'notice little. It asks another, waits where waiting helps, and stops where asking again would only hurt. What it cannot fix it ' +
  'admits plainly, and it never passes half an answer off as a whole one.';
const WORDS = WALL_TEXT.match(/\S+\s*/g)!;

const OVERLOADED = errorAnswer(503, { message: 'overloaded', type: 'server_error' });
const LIMITED = { message: 'slow down', type: 'rate_limit_error', code: 'rate_limit_exceeded' };

/** Faults by the first part of the model's name; the second part keeps runs apart. */
const FAULTS: Record<string, FakeAnswer> = {
  ok: continuingAnswer(WALL_TEXT),
  picky: (call, response) => {
    const turns = call.body.messages as { role: string }[];
    const isPrefilled = turns.at(-1)?.role === 'assistant';
    const refusal = { message: 'no prefill', type: 'invalid_request_error', param: 'messages' };
    return (isPrefilled ? errorAnswer(400, refusal) : continuingAnswer(WALL_TEXT))(call, response);
  },
  s01: once(errorAnswer(429, LIMITED, { 'retry-after': '1' })),
  s02: errorAnswer(429, LIMITED),
  s03: once(errorAnswer(500)),
  s04: OVERLOADED,
  s05: once(resetAnswer),
  s06: hangAnswer,
  s07: (_call, response) => begin(response),
  s08: cutAfter(40, (response) => response.destroy()),
  s09: cutAfter(20, () => undefined),
  s10: cutAfter(10, (response) =>
    response.end('data: {"id":"x","choices":[{"ind\n\ndata: [DONE]\n\n'),
  ),
  s11: (call, response) => {
    const end = response.end.bind(response);
    response.end = (() => end()) as typeof response.end;
    return politeAnswer({ text: WALL_TEXT })(call, response);
  },
  s12: errorAnswer(400, { message: 'too long', code: 'context_length_exceeded' }),
  s13: errorAnswer(400, { message: 'Not with us.', code: 'content_policy_violation' }),
  s14: cutAfter(40, (response) => response.destroy()),
  s16: OVERLOADED,
  // Beyond the sixteen scenarios.
  unauthorized: errorAnswer(401, { message: 'bad key' }),
  forbidden: errorAnswer(403, { message: 'not yours' }),
  overloaded: errorAnswer(529, { message: 'overloaded' }),
  empty: (_call, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end('data: [DONE]\n\n');
  },
  nonsense: (_call, response) => void response.end('<html>'),
  silent: cutAfter(0, (response) => response.destroy()),
  error: cutAfter(30, (response) =>
    response.end('data: {"error":{"message":"it broke","type":"server_error","code":500}}\n\n'),
  ),
  endless: cutAfter(30, (response) => response.end()),
};

/** A vendor that fails in the ways of the sixteen scenarios, selected by the model's name. */
export interface FailoverWall extends FakeOpenAi {
  /** Returns the calls of one model. */
  of(model: string): { call: RecordedCall; atMs: number }[];
  /** Further answers by model name. */
  faults: Map<string, FakeAnswer>;
}

export async function startFailoverWall(): Promise<FailoverWall> {
  const seen = new Map<string, { call: RecordedCall; atMs: number }[]>();
  const faults = new Map(Object.entries(FAULTS));
  const fake = await startFakeOpenAi((call, response) => {
    const model = String(call.body.model);
    const before = seen.get(model) ?? [];
    seen.set(model, [...before, { call, atMs: performance.now() }]);
    const fault = faults.get(model) ?? faults.get(model.split('-')[0]!);
    return (fault ?? errorAnswer(404, { message: 'no such model' }))(call, response);
  });
  return Object.assign(fake, { faults, of: (model: string) => seen.get(model) ?? [] });
}

/** Fails the first call of each model and answers all others. */
function once(fault: FakeAnswer): FakeAnswer {
  const failed = new Set<unknown>();
  return (call, response) => {
    const { model } = call.body;
    const answer = failed.has(model) ? continuingAnswer(WALL_TEXT) : fault;
    failed.add(model);
    return answer(call, response);
  };
}

/** Sends that many words of an answer, then calls `end`. */
function cutAfter(words: number, end: (response: ServerResponse) => void): FakeAnswer {
  return ({ body }, response) => {
    const sent = WORDS.slice(0, words);
    if (body.stream === true) {
      begin(response);
      for (const content of sent) response.write(frame({ content }));
    } else {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write(`{"id":"x","choices":[{"index":0,"message":{"content":"${sent.join('')}`);
    }
    setTimeout(() => end(response), 20).unref();
  };
}

function begin(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(frame({ role: 'assistant', content: '' }));
}

function frame(delta: object): string {
  const choices = [{ index: 0, delta, finish_reason: null }];
  const chunk = { id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices };
  return `data: ${JSON.stringify(chunk)}\n\n`;
}
