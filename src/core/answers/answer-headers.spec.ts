import { describe, expect, it } from '@jest/globals';
import { ServerResponse, type IncomingMessage } from 'node:http';
import { setRouteHeaders } from './answer-headers.js';
import type { BillableRoute } from '../../canonical/billable-route.js';

describe(setRouteHeaders.name, () => {
  const route = { provider: 'sandbox' } as BillableRoute;
  const headersOf = (droppedParams: string[]): ReturnType<ServerResponse['getHeaders']> => {
    const response = new ServerResponse({ method: 'POST' } as IncomingMessage);
    setRouteHeaders(response, { route, droppedParams });
    return response.getHeaders();
  };

  it('names the provider and the dropped fields', () => {
    expect(headersOf([])).toEqual({ 'x-gateway-provider': 'sandbox' });
    expect(headersOf(['top_k', 'a.b'])).toMatchObject({
      'x-gateway-dropped-params': 'top_k, a.b',
    });
  });

  it('accepts any field name that a caller sends', () => {
    const names = ['a\r\nx-evil: 1', 'Größe', '\u0000', 'a,b', '', 'x'.repeat(5_000)];
    const dropped = headersOf(names)['x-gateway-dropped-params'];
    expect(dropped).toBe(`a??x-evil:?1, Gr??e, ?, a?b, , ${'x'.repeat(100)}`);
  });

  it("bounds the header's length", () => {
    const names = Array.from({ length: 10_000 }, (_, index) => `field_${index}`);
    const dropped = String(headersOf(names)['x-gateway-dropped-params']);
    expect(dropped).toMatch(/^field_0, field_1, .*, field_31, \.\.\.$/);
  });
});
