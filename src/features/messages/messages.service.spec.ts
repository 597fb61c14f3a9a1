import { describe, expect, it } from '@jest/globals';
import { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { Response } from 'express';
import { messagesBody } from '../../../test/support/messages-requests.js';
import type { Caller } from '../../core/access/caller.js';
import type { GatewayRequest } from '../../core/access/gateway-request.js';
import type { GuardrailsService } from '../../core/guardrails/guardrails.service.js';
import { NO_GUARD } from '../../core/guardrails/request-guard.js';
import type { LedgerService } from '../../core/ledger/ledger.service.js';
import type { RoutingService } from '../../core/routing/routing.service.js';
import { TracingService } from '../../core/tracing/tracing.service.js';
import { MessagesService } from './messages.service.js';

describe(MessagesService.name, () => {
  /** What a caller who asks for a count is told, when routing knows this much. */
  async function count(counted: { tokens: number; provider: string } | undefined) {
    const routing = {
      plan: () => Promise.resolve({}),
      countTokens: () => Promise.resolve(counted),
    } as unknown as RoutingService;
    const body = Buffer.from(JSON.stringify(messagesBody()));
    const request = Object.assign(Readable.from([body]), {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': String(body.length) },
      requestId: 'id',
      receivedAt: new Date(),
    }) as unknown as GatewayRequest;
    const response = new ServerResponse(request) as unknown as Response;
    let sent = '';
    response.end = ((bytes: Buffer) => {
      sent = bytes.toString();
      return response;
    }) as Response['end'];
    const guardrails = { guard: () => NO_GUARD } as unknown as GuardrailsService;
    // The ledger has no part in a count.
    const service = new MessagesService(
      routing,
      {} as LedgerService,
      guardrails,
      new TracingService(),
    );
    await service.countTokens(Object.assign(request, { caller: {} as Caller }), response);
    return {
      body: JSON.parse(sent) as unknown,
      provider: response.getHeader('x-gateway-provider'),
    };
  }

  it('tells the vendor’s count, and who counted', async () => {
    expect(await count({ tokens: 42, provider: 'a' })).toEqual({
      body: { input_tokens: 42 },
      provider: 'a',
    });
  });

  it('tells an estimate where nobody counted', async () => {
    expect(await count(undefined)).toEqual({ body: { input_tokens: 1 }, provider: undefined });
  });
});
