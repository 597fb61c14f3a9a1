import { describe, expect, it } from '@jest/globals';
import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import type { RequestEnding } from '../../canonical/billable-request.js';
import { AnswerMemory, type RecordedTrace, type TracedRequest } from './recorded-trace.js';
import { RequestTrace } from './request-trace.js';
import { NO_FIELDS } from './trace-fields.js';
import { readTraceContext } from './trace-context.js';

const text = (length: number): CanonicalEvent => ({
  type: 'text',
  choice: 0,
  text: 'x'.repeat(length),
});
const planned = { request: { kind: 'chat' } } as unknown as TracedRequest;

function follow(memory: AnswerMemory, keepsContent = true) {
  let give: (trace: Pick<RecordedTrace['answer'], 'isTruncated'> & { events: number }) => void;
  const recorded = new Promise<Parameters<typeof give>[0]>((resolve) => (give = resolve));
  const trace = new RequestTrace(planned, {
    tenantId: 't',
    chain: undefined,
    isBroadcast: false,
    context: readTraceContext({}),
    fields: NO_FIELDS,
    keepsContent,
    keepsWhole: true,
    memory,
    response: undefined,
    onRecorded: ({ answer: { isTruncated, content } }) =>
      give({ isTruncated, events: content.length }),
  });
  const end = () => {
    trace.ended({} as RequestEnding);
    return recorded;
  };
  return { trace, end };
}

describe(RequestTrace.name, () => {
  it('drops an answer when others use up the memory, and releases its own', async () => {
    const memory = new AnswerMemory(1_000);
    const [one, two] = [follow(memory), follow(memory)];
    one.trace.observe(text(500));
    two.trace.observe(text(200));
    expect(memory.taken).toBe(500 + 200 + 2 * 64);
    two.trace.observe(text(500));
    two.trace.observe(text(1));
    expect([memory.taken, memory.leftOut]).toEqual([564, 1]);
    // There is room again for later requests.
    one.trace.observe(text(300));
    expect(await two.end()).toEqual({ isTruncated: true, events: 0 });
    expect(await one.end()).toEqual({ isTruncated: false, events: 2 });
    expect([memory.taken, memory.leftOut]).toEqual([0, 1]);
  });

  it('releases memory when its request never ends, and uses none for figures', () => {
    const memory = new AnswerMemory(1_000);
    const { trace } = follow(memory);
    trace.observe(text(500));
    trace.lost();
    follow(memory, false).trace.observe(text(500));
    expect(memory.taken).toBe(0);
  });
});
