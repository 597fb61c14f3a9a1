import { describe, expect, it, jest } from '@jest/globals';
import type { CanonicalRequest } from '../../canonical/canonical-request.js';
import type { GatewayRequest } from '../access/gateway-request.js';
import type { GuardrailsService } from '../guardrails/guardrails.service.js';
import { NO_GUARD } from '../guardrails/request-guard.js';
import type { LedgerService } from '../ledger/ledger.service.js';
import { SettledAnswer, type AnswerEnding } from '../ledger/settled-answer.js';
import type { RoutingService } from '../routing/routing.service.js';
import { GatewayMetrics } from '../../platform/metrics/gateway-metrics.js';
import { TracingService } from '../tracing/tracing.service.js';
import { ServerResponse } from 'node:http';
import { AnswersService } from './answers.service.js';
import type { DensePrompts } from './dense-prompts.service.js';
import type { Call } from './call.js';
import { deliver } from './deliver.js';

const REQUEST = { routing: {} } as CanonicalRequest;

describe(AnswersService.name, () => {
  /** A pipeline whose vendor must not be called, and the end of its hold. */
  function setUp(open: () => AsyncIterable<never> = neverPulled) {
    const ends: string[] = [];
    const plan = { request: { body: { value: {} } } };
    const routing = {
      plan: () => Promise.resolve(plan),
      open,
      keep: (_plan: unknown, events: unknown) => events,
    } as unknown as RoutingService;
    const close = jest.fn(({ outcome }: AnswerEnding) => {
      ends.push(outcome);
      return Promise.resolve({} as never);
    });
    const request = { callerGone: NEVER, upstreamCalled: false, closeVendor: () => undefined };
    const beginGrace = () => () => undefined;
    const observer = { request, observe: () => undefined, beginGrace, close };
    const ledger = {
      hold: () => Promise.resolve({}),
      release: () => Promise.resolve(void ends.push('released')),
      settle: (_hold: unknown, events: AsyncIterable<never>) => new SettledAnswer(events, observer),
    } as unknown as LedgerService;
    const guardrails = { guard: () => NO_GUARD } as unknown as GuardrailsService;
    const answers = new AnswersService(
      routing,
      ledger,
      guardrails,
      new TracingService(new GatewayMetrics()),
      {} as DensePrompts,
    );
    const generate = (call: Call) => answers.generate(call, 'chat', REQUEST);
    return { ends, generate };
  }

  const received = (): GatewayRequest =>
    ({ caller: {}, headers: {}, requestId: 'id', receivedAt: new Date() }) as GatewayRequest;
  const response = (): ServerResponse => new ServerResponse({ method: 'POST' } as never);

  it('releases the hold when the answer cannot be opened', async () => {
    const { ends, generate } = setUp(() => {
      throw new Error('no upstream');
    });
    const reply = async (call: Call) => ({ answer: await generate(call), send: sendNothing });
    await expect(deliver(received(), response(), reply)).rejects.toThrow('no upstream');
    expect(ends).toEqual(['released']);
  });

  it('ends the hold when sending throws before the first pull', async () => {
    const { ends, generate } = setUp();
    const send = () => Promise.reject(new Error('no renderer'));
    const reply = async (call: Call) => ({ answer: await generate(call), send });
    await expect(deliver(received(), response(), reply)).rejects.toThrow('no renderer');
    expect(ends).toEqual(['cancelled']);
  });

  it('ends the hold when the reply fails after the answer was created', async () => {
    const { ends, generate } = setUp();
    const reply = async (call: Call): Promise<never> => {
      await generate(call);
      throw new Error('no options');
    };
    await expect(deliver(received(), response(), reply)).rejects.toThrow('no options');
    expect(ends).toEqual(['cancelled']);
  });

  it('ends the hold once, however often the answer is closed', async () => {
    const { ends, generate } = setUp();
    const send = async (_: unknown, events: AsyncIterable<unknown>) => {
      await events[Symbol.asyncIterator]().return?.();
    };
    await deliver(received(), response(), async (call) => ({ answer: await generate(call), send }));
    expect(ends).toEqual(['cancelled']);
  });
});

const NEVER = new AbortController().signal;
const sendNothing = (): Promise<void> => Promise.resolve();

const neverPulled = (): AsyncIterable<never> => ({
  [Symbol.asyncIterator]: () => ({
    next: () => Promise.reject(new Error('a vendor was called')),
  }),
});
