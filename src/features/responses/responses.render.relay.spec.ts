import { describe, expect, it } from '@jest/globals';
import { ANSWER_ID, responsesRequest } from '../../../test/support/responses-requests.js';
import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import { ProviderError } from '../../platform/errors/gateway-errors.js';
import { ResponsesStreamRenderer } from './responses.render.js';
import { opening, usage, settled, read } from '../../../test/support/rendered-responses.js';

describe(ResponsesStreamRenderer.name, () => {
  describe('with a relayed answer', () => {
    const answer = { id: ANSWER_ID, status: 'completed', store: true, output: [], usage: null };
    const last = `event: response.completed\ndata: ${JSON.stringify({
      type: 'response.completed',
      sequence_number: 9,
      response: answer,
    })}\n\n`;
    const relay = (bytes: string, fields: object = {}): CanonicalEvent => ({
      type: 'relay',
      dialect: 'responses',
      bytes: Buffer.from(bytes),
      hasContent: true,
      outputCharacters: 1,
      ...fields,
    });
    const begin = () => {
      const renderer = new ResponsesStreamRenderer({ request: responsesRequest(), createdAt: 1 });
      renderer.render(opening);
      const delta = 'event: x\ndata: {"type":"x","sequence_number":8}\n\n';
      expect(String(renderer.render(relay(delta)))).toBe(delta);
      return renderer;
    };

    it('relays the bytes and sends the last ones after the commit', () => {
      const renderer = begin();
      expect(renderer.render(relay(last, { answer, usage }))).toBeUndefined();
      renderer.render({ ...settled, recorded: true });
      expect(renderer.end().toString()).toBe(last);
    });

    it('adds fields known only after the commit', () => {
      const renderer = begin();
      renderer.render(relay(last, { answer }));
      renderer.render({ ...settled, recorded: false });
      const [event] = read(renderer.end().toString(), 9);
      expect(event?.response).toMatchObject({ store: false, usage: { total_tokens: 15 } });
    });

    it('continues the sequence numbers after a failure', () => {
      const [failed] = read(begin().error(new ProviderError('It broke.')), 9);
      expect(failed).toMatchObject({ type: 'response.failed', response: { id: ANSWER_ID } });
    });
  });
});
