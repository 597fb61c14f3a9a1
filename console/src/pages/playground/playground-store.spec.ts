import { describe, expect, it } from '@jest/globals';
import type { CallOutcome } from '../../calls/call-model';
import { NO_SETTINGS } from '../../calls/conversation';
import { fileErrorOf, MAX_FILES_BYTES } from './files';
import { PlaygroundStore, type Caller, type PlaygroundSettings } from './playground-store';

const SETTINGS: PlaygroundSettings = {
  surface: 'chat',
  models: ['a/a', 'b/b'],
  settings: NO_SETTINGS,
};

function outcome(fields: Partial<CallOutcome['answer']>, error: Error | null = null): CallOutcome {
  const answer = { text: '', reasoning: '', toolCalls: [], finishReason: 'stop', ...fields };
  return { answer, call: { requestId: 'r', firstTokenMs: 1, tookMs: 2 }, error };
}

function storage(): Pick<Storage, 'getItem' | 'setItem'> {
  const stored = new Map<string, string>();
  return {
    getItem: (name) => stored.get(name) ?? null,
    setItem: (name, value) => void stored.set(name, value),
  };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

describe(PlaygroundStore.name, () => {
  it('sends the draft to all models and persists their answers', async () => {
    const place = storage();
    const store = new PlaygroundStore('x', place, (request) =>
      Promise.resolve(outcome({ text: `I am ${String(request.body['model'])}` })),
    );
    store.change({ draft: 'Who?', system: 'S' });
    store.send(SETTINGS);
    expect(store.read().draft).toBe('');
    await settle();
    store.stopAll();
    const again = new PlaygroundStore('x', place, () => Promise.reject(new Error('no')));
    expect(again.read().threads.map(({ turns }) => turns)).toMatchObject([
      [{ text: 'Who?' }, { text: 'I am a/a', call: { model: 'a/a', requestId: 'r' } }],
      [{ text: 'Who?' }, { text: 'I am b/b' }],
    ]);
    expect(again.read().system).toBe('S');
  });

  it('keeps a partial answer without incomplete tool calls after a stop', async () => {
    const signals: AbortSignal[] = [];
    const wait: Caller = (_, signal, onProgress) => {
      signals.push(signal);
      const half = { id: 'c', name: 'f', arguments: '{"a' };
      const { answer } = outcome({ text: 'So', toolCalls: [half], finishReason: null });
      onProgress(answer, 1);
      return new Promise((resolve) =>
        signal.addEventListener('abort', () => resolve({ ...outcome({}), answer })),
      );
    };
    const store = new PlaygroundStore('x', storage(), wait);
    store.change({ draft: 'Go' });
    store.send(SETTINGS);
    expect(store.thread(1).live?.answer.text).toBe('So');
    store.stop(1);
    await settle();
    expect(store.thread(1)).toMatchObject({
      live: null,
      error: null,
      turns: [{}, { text: 'So', toolCalls: [], finishReason: 'stopped' }],
    });
    expect(store.thread(0).live).not.toBeNull();
    store.stopAll();
    expect(signals.every(({ aborted }) => aborted)).toBe(true);
  });

  it('shows an error and retries without repeating the message', async () => {
    const bodies: unknown[] = [];
    const store = new PlaygroundStore('x', storage(), (request) => {
      bodies.push(request.body['messages']);
      return Promise.resolve(
        bodies.length === 1 ? outcome({}, new Error('no')) : outcome({ text: 'yes' }),
      );
    });
    const settings = { ...SETTINGS, models: ['a/a'] };
    store.change({ draft: 'Go' });
    store.send(settings);
    await settle();
    expect(store.thread(0)).toMatchObject({ error: { message: 'no' }, turns: [{ text: 'Go' }] });
    store.retry(0, settings);
    await settle();
    store.retry(0, settings);
    await settle();
    expect(store.thread(0)).toMatchObject({
      error: null,
      turns: [{ text: 'Go' }, { text: 'yes' }],
    });
    expect(bodies[2]).toEqual(bodies[0]);
    store.stopAll();
  });

  it('continues after a tool result', async () => {
    const bodies: unknown[] = [];
    const toolCalls = [{ id: 'c', name: 'f', arguments: '{}' }];
    const store = new PlaygroundStore('x', storage(), (request) => {
      bodies.push(request.body['messages']);
      return Promise.resolve(outcome(bodies.length === 1 ? { toolCalls } : { text: 'Good' }));
    });
    const settings = { ...SETTINGS, models: ['a/a'] };
    store.change({ draft: 'Go' });
    store.send(settings);
    await settle();
    store.sendResults(0, [{ id: 'c', text: '18' }], settings);
    await settle();
    expect(bodies[1]).toMatchObject([
      {},
      { tool_calls: [{ id: 'c' }] },
      { role: 'tool', content: '18' },
    ]);
    store.stopAll();
  });

  it('returns the next requests without sending them', async () => {
    const sent: unknown[] = [];
    const store = new PlaygroundStore('x', storage(), (request) => {
      sent.push(request);
      return Promise.resolve(outcome({ text: 'Hi' }));
    });
    store.change({ draft: 'Go', system: 'S' });
    store.send(SETTINGS);
    await settle();
    store.change({ draft: 'On' });
    const next = store.nextRequests(SETTINGS);
    expect(sent).toHaveLength(2);
    expect(store.read().draft).toBe('On');
    expect(store.thread(0).turns).toHaveLength(2);
    expect(next[1]?.body['messages']).toMatchObject([
      ...[{ content: 'S' }, { content: 'Go' }, { content: 'Hi' }, { content: 'On' }],
    ]);
    store.send(SETTINGS);
    expect(sent.slice(2)).toEqual(next);
    store.stopAll();
  });

  it('reports invalid tools and sends nothing', () => {
    const store = new PlaygroundStore('x', storage(), () => Promise.reject(new Error('sent')));
    store.change({ draft: 'Go', tools: '{' });
    store.send({ ...SETTINGS, models: ['a/a'] });
    expect(store.thread(0).error).toMatchObject({ param: 'tools' });
    store.stopAll();
  });

  it('drops files that are too large to persist', async () => {
    const place = storage();
    const file = { name: 'a.png', type: 'image/png', bytes: 3e6, data: 'A'.repeat(3_000_000) };
    const store = new PlaygroundStore('x', place, () => Promise.resolve(outcome({ text: 'ok' })));
    const settings = { ...SETTINGS, models: ['a/a'] };
    store.change({ draft: 'Look', files: [file] });
    store.send(settings);
    await settle();
    store.stopAll();
    expect(place.getItem('x')?.length).toBeLessThan(10_000);
    const again = new PlaygroundStore('x', place, () => Promise.reject(new Error('no')));
    expect(again.thread(0).turns[0]).toMatchObject({ files: [{ name: 'a.png', data: '' }] });
    expect(again.requestOf(0, settings).body['messages']).toMatchObject([{ content: 'Look' }, {}]);
  });

  it.each(['', 'null', '3', '{', '{"threads":[{"turns":[{"role":"user"},{"role":"x"},3]}]}'])(
    'ignores an invalid stored state: %s',
    (text) => {
      const place = storage();
      place.setItem('x', text);
      const store = new PlaygroundStore('x', place, () => Promise.reject(new Error('no')));
      expect(store.thread(0).turns.length).toBeLessThan(2);
    },
  );
});

describe(fileErrorOf.name, () => {
  it('accepts supported files within the limits', () => {
    const file = { name: 'a', type: 'image/png', size: 10 };
    expect(fileErrorOf(file, 0, 0)).toBeUndefined();
    expect(fileErrorOf({ ...file, type: 'text/csv' }, 0, 0)).toBeUndefined();
    expect(fileErrorOf({ ...file, type: 'video/mp4' }, 0, 0)).toContain('video/mp4');
    expect(fileErrorOf(file, 10, 0)).toContain('at most 10 files');
    expect(fileErrorOf({ ...file, size: 0 }, 0, 0)).toContain('empty');
    expect(fileErrorOf(file, 1, MAX_FILES_BYTES - 5)).toContain('14 MB');
  });
});
