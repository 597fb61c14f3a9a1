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

/** What a reader sees, and what became of it. */
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

  it('has the next route of the model go on, in one text, one end and one usage', async () => {
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
    // Of the text 37 characters and 19 are new, 12 tokens came with the 18 that were said again.
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
    ['shared capacity that goes on with what an own account began', 'own', 'openai', 'openai'],
    ['the first of two that cost the same', 'openai', 'azure', undefined],
  ])('is charged by %s', async (_case, begins, goesOn, dearer) => {
    const begun: CanonicalEvent = {
      type: 'usage',
      usage: { ...NO_USAGE, inputTokens: 9 },
      isPartial: true,
    };
    const world = new World({ [begins]: [breaksAfter([begun, ...OPENING])], [goesOn]: [GOES_ON] });
    if (begins === 'own') world.byok = [ownAccount];
    const { plan, events } = await world.open(ASKED);
    expect(plan.dearerPart?.provider).toBe(dearer);
    expect(plan.dearerPart?.trafficMode).toBe(dearer && 'shared');
    // Of its own account a tenant can have the vendor say what it wants.
    const { usage: counted } = events.findLast((event) => event.type === 'usage')!;
    expect(counted.inputTokens === 9).toBe(dearer === undefined);
  });

  it('gives everybody else turns while its reader sees nothing of what comes', async () => {
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

  it('has a model that takes a beginning go on from there, and asks it to where it refuses', async () => {
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

  it('leaves answers alone that come to their end', async () => {
    const { events, outcomes, plan } = await read({ openai: [says(...OPENING)] });
    expect(outcomes).toEqual(['answered']);
    expect(plan.attempts[0]!.usage).toBeUndefined();
    expect(events.filter((event) => event.type === 'usage')).toEqual([usage(30, 12)]);
  });

  it.each<[string, Record<string, unknown>]>([
    ['who asked for none', { stream: true }],
    ['who asked for `off`', { ...ASKED, recovery: 'off' }],
    ['of several answers', { ...ASKED, n: 2 }],
    ['of JSON', { ...ASKED, response_format: { type: 'json_object' } }],
    ['of probabilities', { ...ASKED, logprobs: true }],
  ])('does nothing for callers %s', async (_name, fields) => {
    const { failure, world } = await read({ openai: [breaksAfter(OPENING)] }, fields);
    expect(failure).toMatchObject({ status: 502 });
    expect(world.called).toEqual(['openai']);
  });

  const tool: CanonicalEvent = { type: 'tool_call', choice: 0, index: 0, id: 'a', name: 'f' };
  it.each<[string, CanonicalEvent[]]>([
    ['a tool call', [...OPENING, tool]],
    ['a refusal', [{ type: 'refusal', choice: 0, text: 'I must' }]],
  ])('does not go on in the middle of %s', async (_name, events) => {
    const { failure, world } = await read({ openai: [breaksAfter(events)] });
    expect(failure).toMatchObject({ status: 502 });
    expect(world.called).toEqual(['openai']);
    expect(world.recoveries).toEqual(['refused']);
  });

  it('begins anew after unsigned reasoning, and shows none of what is thought again', async () => {
    const { text: shown, events } = await read({
      openai: [breaksAfter([reasoning('Hm')])],
      azure: [says(reasoning('Well'), text('Hello'))],
    });
    expect(shown).toBe('Hello');
    expect(events.filter(({ type }) => type === 'reasoning')).toEqual([reasoning('Hm')]);
  });

  it.each<[string, Script]>([
    ['says something else', says(text('Certainly! '), text(REST))],
    ['goes on where it was not told to', says(text(REST))],
    ['says nothing', says()],
    ['says too little', says(text(tail.slice(0, -1)))],
    ['calls a tool', { events: [start, tool, finish] }],
    ['breaks off at once', breaksAfter([text(tail.slice(0, 3))])],
    ['is overloaded', bad('server', { status: 529, retryAfterMs: 1 })],
    ['refuses what it is asked', bad('caller', { status: 400 })],
  ])('tells the caller honestly where the other route %s', async (_name, other) => {
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
      message: 'The answer from openai broke off before its end.',
    });
  });

  it('goes on with models of the chain for who takes any', async () => {
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

  it('asks the same route again where there is no other', async () => {
    const only = { ...ASKED, provider: { only: ['openai'] } };
    const { text: shown } = await read({ openai: [breaksAfter(OPENING), GOES_ON] }, only);
    expect(shown).toBe(SAID + REST);
  });

  it('asks nobody once the time of the request is up', async () => {
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

  it('goes on more than once', async () => {
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

  it('takes an answer for whole that lacks nothing but its usage', async () => {
    const { failure, world } = await read({ openai: [breaksAfter([...OPENING, finish])] });
    expect(failure).toBeUndefined();
    expect(world.called).toEqual(['openai']);
  });

  it('leaves as much of the caller’s limit as there is', async () => {
    const { world } = await read(
      { openai: [breaksAfter(OPENING)], azure: [GOES_ON] },
      { ...ASKED, max_tokens: 100 },
    );
    const left = 100 - Math.ceil(said.length / 4);
    expect(world.calls[1]!.request.body.value.max_tokens).toBe(left);
    expect(world.calls[1]!.maxOutputTokens).toBe(left);
  });

  it('asks nobody when its caller has left', async () => {
    const world = new World({ openai: [{ events: [start, ...OPENING], hang: true }] });
    const events = world.service.open(await world.plan(ASKED), COVERS_ALL);
    for (let count = 0; count < 4; count++) await events.next();
    const last = events.next();
    world.aborter.abort();
    await expect(last).rejects.toThrow('The caller disconnected.');
    expect(world.called).toEqual(['openai']);
    expect(world.openIterations).toBe(0);
  });

  it('ends what goes on when its reader leaves', async () => {
    const world = new World({ openai: [breaksAfter(OPENING)], azure: [GOES_ON] });
    const events = world.service.open(await world.plan(ASKED), COVERS_ALL);
    while (world.called.length < 2) await events.next();
    await events.return();
    expect(world.openIterations).toBe(0);
  });
});
