import { Logger } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import {
  bad,
  COVERS_ALL,
  error,
  finish,
  start,
  World,
  type Script,
} from '../../../../test/support/routing-environment.js';
import type { CanonicalEvent } from '../../../canonical/canonical-event.js';
import { NO_USAGE } from '../../../canonical/usage.js';
import { ByokCredential } from '../../credentials/credential.repository.js';
import type { ByokAccess } from '../../credentials/byok-upstreams.service.js';
import type { UpstreamFailure } from '../../../vendors/upstream-error.js';
import { cutTail } from './cut-tail.js';
import { RecoveringAnswer } from './recovering-answer.js';

const SAID = 'The quick brown fox jumps over the la';
const REST = 'zy dog, and sleeps.';
const { said, tail } = cutTail(SAID);

const text = (piece: string): CanonicalEvent => ({ type: 'text', choice: 0, text: piece });
const reasoning = (piece: string, signature?: string): CanonicalEvent => ({
  type: 'reasoning',
  choice: 0,
  text: piece,
  ...(signature !== undefined && { signature }),
});
const usage = (inputTokens: number, outputTokens: number): CanonicalEvent => ({
  type: 'usage',
  usage: { ...NO_USAGE, inputTokens, outputTokens },
});
const breaksAfter = (events: CanonicalEvent[], failure: UpstreamFailure = 'reset'): Script => ({
  events: [start, ...events],
  error: error(failure),
});
const says = (...events: CanonicalEvent[]): Script => ({
  events: [start, ...events, finish, usage(30, 12)],
});
const GOES_ON = says(text(tail), text(REST));

const ASKED = { stream: true, recovery: 'continue' };
const OPENING = [text('The quick brown fox'), text(' jumps over the la')];

const ownAccount: ByokAccess = {
  credential: new ByokCredential({
    id: 'own',
    provider: 'openai',
    allowSharedFallback: true,
    settings: {},
    encryptedKey: Buffer.from('signed'),
  }),
  hasTenantAddress: false,
};

/** Returns what a reader sees, and the outcome. */
async function read(
  scripts: Record<string, Script[]>,
  fields: Record<string, unknown> = ASKED,
  prefilled: readonly string[] = [],
) {
  const world = new World(scripts);
  world.prefilled = prefilled;
  const { plan, events, failure, outcomes } = await world.open(fields);
  const shown = events.map((event) => ('text' in event && event.type === 'text' ? event.text : ''));
  return { world, plan, events, failure, outcomes, text: shown.join('') };
}

describe(RecoveringAnswer.name, () => {
  beforeAll(() => void Logger.overrideLogger(false));
  afterAll(() => void Logger.overrideLogger(['error', 'warn', 'log']));

  it('continues over the model’s next route, with one text, one end and one usage', async () => {
    const { world, plan, events, failure, text, outcomes } = await read({
      openai: [breaksAfter(OPENING)],
      azure: [GOES_ON],
    });
    expect(failure).toBeUndefined();
    expect(text).toBe(SAID + REST);
    expect(events.filter(({ type }) => type === 'finish')).toHaveLength(1);
    const [route] = events.filter((event) => event.type === 'route');
    expect(route?.route.provider).toBe('openai');
    expect(outcomes).toEqual(['reset', 'answered']);
    expect(world.recoveries).toEqual(['continued']);
    expect(plan.attempts.map(({ continuesAt }) => continuesAt)).toEqual([undefined, SAID.length]);
    // 37 characters and 19 are new; the 18 repeated ones took 12 tokens.
    expect(events.filter((event) => event.type === 'usage')).toEqual([
      {
        type: 'usage',
        source: 'estimated',
        usage: expect.objectContaining({ outputTokens: 10 + 12 - 5 }) as unknown,
      },
    ]);
    expect(plan.attempts[1]!.usage).toMatchObject({ inputTokens: 30, outputTokens: 12 });
    expect(plan.attempts[0]!.usage).toMatchObject({ outputTokens: 10 });
    const { body, prompt } = world.calls[1]!.request;
    const turns = [
      { role: 'assistant', content: said },
      { role: 'user', content: expect.stringMatching(new RegExp(`${tail}$`)) as unknown },
    ];
    expect((body.value.messages as unknown[]).slice(1)).toEqual(turns);
    expect(JSON.parse(body.bytes.toString())).toEqual(body.value);
    expect(
      prompt()
        .messages.slice(1)
        .map(({ role }) => role),
    ).toEqual(['assistant', 'user']);
  });

  it.each([
    ['shared capacity that continues a BYOK answer', 'own', 'openai', 'openai'],
    ['the first of two at the same price', 'openai', 'azure', undefined],
  ])('is charged by %s', async (_case, starts, continues, expensive) => {
    const begun: CanonicalEvent = {
      type: 'usage',
      usage: { ...NO_USAGE, inputTokens: 9 },
      isPartial: true,
    };
    const world = new World({
      [starts]: [breaksAfter([begun, ...OPENING])],
      [continues]: [GOES_ON],
    });
    if (starts === 'own') world.byok = [ownAccount];
    const { plan, events } = await world.open(ASKED);
    expect(plan.billingRoute?.provider).toBe(expensive);
    expect(plan.billingRoute?.trafficMode).toBe(expensive && 'shared');
    // Over its own account a tenant could make the vendor report anything.
    const { usage: counted } = events.findLast((event) => event.type === 'usage')!;
    expect(counted.inputTokens === 9).toBe(expensive === undefined);
  });

  it('yields to other work while its reader sees nothing', async () => {
    const thoughts = Array.from({ length: 3_000 }, () => reasoning('x'));
    let turns = 0;
    const count = (): void => {
      turns++;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    const azure = [says(...thoughts, text(tail), text(REST))];
    const { text: shown } = await read({ openai: [breaksAfter(OPENING)], azure });
    clearImmediate(next);
    expect(shown).toBe(SAID + REST);
    expect(turns).toBeGreaterThan(5);
  });

  it('lets a model continue a prefilled turn, and sends an instruction when it refuses', async () => {
    const broken = { openai: [breaksAfter(OPENING)] };
    const taken = await read({ ...broken, azure: [GOES_ON] }, ASKED, ['azure']);
    expect(taken.text).toBe(SAID + REST);
    expect(taken.world.calls[1]!.request).toMatchObject({ isPrefilled: true });
    expect(taken.world.calls[1]!.request.prompt().messages.at(-1)!.role).toBe('assistant');

    const again = {
      openai: [breaksAfter(OPENING)],
      azure: [bad('caller', { status: 400 }), GOES_ON],
    };
    const refused = await read(again, ASKED, ['azure']);
    expect(refused.text).toBe(SAID + REST);
    expect(refused.outcomes).toEqual(['reset', 'caller', 'answered']);
    expect(refused.world.calls[2]!.request).toMatchObject({ isPrefilled: false });
    expect(refused.world.calls[2]!.request.prompt().messages.at(-1)!.role).toBe('user');
  });

  it('does not touch complete answers', async () => {
    const { events, outcomes, plan } = await read({ openai: [says(...OPENING)] });
    expect(outcomes).toEqual(['answered']);
    expect(plan.attempts[0]!.usage).toBeUndefined();
    expect(events.filter((event) => event.type === 'usage')).toEqual([usage(30, 12)]);
  });

  it.each<[string, Record<string, unknown>]>([
    ['without the option', { stream: true }],
    ['with the option `off`', { ...ASKED, recovery: 'off' }],
    ['of several choices', { ...ASKED, n: 2 }],
    ['of JSON', { ...ASKED, response_format: { type: 'json_object' } }],
    ['of log probabilities', { ...ASKED, logprobs: true }],
  ])('does nothing for callers %s', async (_name, fields) => {
    const { failure, world } = await read({ openai: [breaksAfter(OPENING)] }, fields);
    expect(failure).toMatchObject({ status: 502 });
    expect(world.called).toEqual(['openai']);
  });

  const tool: CanonicalEvent = { type: 'tool_call', choice: 0, index: 0, id: 'a', name: 'f' };
  it.each<[string, CanonicalEvent[]]>([
    ['a tool call', [...OPENING, tool]],
    ['a refusal', [{ type: 'refusal', choice: 0, text: 'I must' }]],
  ])('does not continue within %s', async (_name, events) => {
    const { failure, world } = await read({ openai: [breaksAfter(events)] });
    expect(failure).toMatchObject({ status: 502 });
    expect(world.called).toEqual(['openai']);
    expect(world.recoveries).toEqual(['refused']);
  });

  it('starts over after unsigned reasoning, and hides the repeated reasoning', async () => {
    const { text: shown, events } = await read({
      openai: [breaksAfter([reasoning('Hm')])],
      azure: [says(reasoning('Well'), text('Hello'))],
    });
    expect(shown).toBe('Hello');
    expect(events.filter(({ type }) => type === 'reasoning')).toEqual([reasoning('Hm')]);
  });

  it.each<[string, Script]>([
    ['says something else', says(text('Certainly! '), text(REST))],
    ['continues without the tail', says(text(REST))],
    ['is empty', says()],
    ['is too short', says(text(tail.slice(0, -1)))],
    ['calls a tool', { events: [start, tool, finish] }],
    ['is interrupted at once', breaksAfter([text(tail.slice(0, 3))])],
    ['is overloaded', bad('server', { status: 529, retryAfterMs: 1 })],
    ['rejects the request', bad('caller', { status: 400 })],
  ])('reports the failure when the other route %s', async (_name, other) => {
    const {
      failure,
      text: shown,
      world,
    } = await read({
      openai: [breaksAfter(OPENING)],
      azure: [other, other],
    });
    expect(world.recoveries).toEqual(['failed']);
    expect(shown).toBe(SAID);
    expect(failure).toMatchObject({
      status: 502,
      message: 'The answer from openai was interrupted.',
    });
  });

  it('continues over models of the chain when allowed', async () => {
    const scripts = () => ({
      openai: [breaksAfter(OPENING)],
      azure: [bad('operator')],
      anthropic: [GOES_ON],
    });
    const chain = { ...ASKED, models: ['anthropic/claude'] };
    expect((await read(scripts(), chain)).failure).toMatchObject({ status: 502 });
    const any = await read(scripts(), { ...chain, recovery: 'any' });
    expect(any.text).toBe(SAID + REST);
    expect(any.outcomes).toEqual(['reset', 'operator', 'answered']);
  });

  it('calls the same route again when there is no other', async () => {
    const only = { ...ASKED, provider: { only: ['openai'] } };
    const { text: shown } = await read({ openai: [breaksAfter(OPENING), GOES_ON] }, only);
    expect(shown).toBe(SAID + REST);
  });

  it('makes no call once the request’s time is up', async () => {
    const late = Date.now() + 700_000;
    const clock = jest.spyOn(Date, 'now');
    const breaksOffLate = (): Script => {
      clock.mockReturnValue(late);
      return breaksAfter(OPENING);
    };
    const world = new World({ openai: [breaksOffLate] });
    const { failure } = await world.open(ASKED);
    clock.mockRestore();
    expect(failure).toMatchObject({ status: 502 });
    expect(world.called).toEqual(['openai']);
  });

  it('continues more than once', async () => {
    const longer = `${SAID}zy do`;
    const { text: shown, plan } = await read({
      openai: [breaksAfter(OPENING)],
      azure: [
        breaksAfter([text(tail), text('zy do')], 'cut'),
        says(text(cutTail(longer).tail), text('g, and sleeps.')),
      ],
    });
    expect(shown).toBe(SAID + REST);
    expect(plan.attempts.map(({ outcome }) => outcome)).toEqual(['reset', 'cut', 'answered']);
  });

  it('treats an answer that lacks only its usage as complete', async () => {
    const { failure, world } = await read({ openai: [breaksAfter([...OPENING, finish])] });
    expect(failure).toBeUndefined();
    expect(world.called).toEqual(['openai']);
  });

  it('leaves the rest of the caller’s limit', async () => {
    const { world } = await read(
      { openai: [breaksAfter(OPENING)], azure: [GOES_ON] },
      { ...ASKED, max_tokens: 100 },
    );
    const left = 100 - Math.ceil(said.length / 4);
    expect(world.calls[1]!.request.body.value.max_tokens).toBe(left);
    expect(world.calls[1]!.maxOutputTokens).toBe(left);
  });

  it('makes no call for a disconnected caller', async () => {
    const world = new World({ openai: [{ events: [start, ...OPENING], hang: true }] });
    const events = world.service.open(await world.plan(ASKED), COVERS_ALL);
    for (let count = 0; count < 4; count++) await events.next();
    const last = events.next();
    world.aborter.abort();
    await expect(last).rejects.toThrow('The caller disconnected.');
    expect(world.called).toEqual(['openai']);
    expect(world.openIterations).toBe(0);
  });

  it('ends the continuation when its reader leaves', async () => {
    const world = new World({ openai: [breaksAfter(OPENING)], azure: [GOES_ON] });
    const events = world.service.open(await world.plan(ASKED), COVERS_ALL);
    while (world.called.length < 2) await events.next();
    await events.return();
    expect(world.openIterations).toBe(0);
  });
});
