import { describe, expect, it } from '@jest/globals';
import { ANSWER_ID } from '../../../test/support/responses-requests.js';
import { listInputItems } from './list-input-items.js';

const items = ['a', 'b', 'c'].map((content) => ({ role: 'user', content }));

describe(listInputItems.name, () => {
  it('returns stable item ids', () => {
    const list = () => listInputItems(ANSWER_ID, items, { limit: 20, order: 'asc' });
    expect(list()).toEqual(list());
    expect(new Set(list().data.map(({ id }) => id)).size).toBe(3);
  });

  it('pages in both directions', () => {
    const page = (after?: string) =>
      listInputItems(ANSWER_ID, items, { limit: 2, order: 'desc', ...(after && { after }) });
    const first = page();
    expect(first).toMatchObject({
      data: [{ content: [{ text: 'c' }] }, { content: [{ text: 'b' }] }],
      has_more: true,
    });
    const second = page(first.last_id!);
    expect(second).toMatchObject({ data: [{ content: [{ text: 'a' }] }], has_more: false });
    expect(second.first_id).toBe(second.last_id);
    expect(() => page('msg_x')).toThrow(expect.objectContaining({ status: 404, param: 'after' }));
  });

  it('prefixes ids by item type and keeps ids of the caller', () => {
    const { data } = listInputItems(
      ANSWER_ID,
      [
        { type: 'function_call_output', call_id: 'c', output: 'x' },
        { type: 'message', id: 'msg_own', role: 'assistant', content: 'y' },
        { type: 'novelty' },
      ],
      { limit: 20, order: 'asc' },
    );
    expect(data).toMatchObject([
      { id: expect.stringMatching(/^fco_/) },
      { id: 'msg_own', content: [{ type: 'output_text', text: 'y' }] },
      { id: expect.stringMatching(/^item_/) },
    ]);
  });
});
