import { Logger } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type UpstreamFailure } from '../../vendors/upstream-error.js';
import { RoutingService } from './routing.service.js';
import {
  type Script,
  start,
  text,
  usage,
  error,
  bad,
  limited,
  World,
  CHAIN,
} from '../../../test/support/routing-environment.js';

describe(`${RoutingService.name}on route failures`, () => {
  beforeAll(() => void Logger.overrideLogger(false));
  afterAll(() => void Logger.overrideLogger(['error', 'warn', 'log']));

  describe('before the first content', () => {
    it.each<[UpstreamFailure, string[]]>([
      ['connect', ['openai', 'azure']],
      ['timeout', ['openai', 'azure']],
      ['operator', ['openai', 'azure']],
      ['unreadable', ['openai', 'azure']],
      ['cut', ['openai', 'azure']],
      ['rate_limited', ['openai', 'azure']],
      ['reset', ['openai', 'openai', 'azure']],
      ['server', ['openai', 'openai', 'azure']],
    ])('tries the next route after %s', async (failure, called) => {
      const world = new World({ openai: [bad(failure), bad(failure)] });
      const { events, outcomes } = await world.open();
      expect(world.called).toEqual(called);
      expect(events[0]).toMatchObject({ type: 'route', route: { provider: 'azure' } });
      expect(events.filter(({ type }) => type === 'text')).toHaveLength(1);
      expect(outcomes).toEqual([...called.slice(1).map(() => failure), 'answered']);
    });

    it('tries the next model when the prompt is too long', async () => {
      const world = new World({ openai: [limited(20)], azure: [bad('context_length')] });
      const { events } = await world.open(CHAIN);
      expect(world.called).toEqual(['openai', 'azure', 'anthropic']);
      expect(events[0]).toMatchObject({ type: 'route', route: { provider: 'anthropic' } });
    });

    it('tries no other provider when the prompt is too long for the model', async () => {
      const world = new World({ openai: [bad('context_length')] });
      expect((await world.open()).failure).toMatchObject({ status: 400, param: 'messages' });
      expect(world.called).toEqual(['openai']);
    });

    it('hides the failed routes', async () => {
      const world = new World({
        openai: [{ events: [{ type: 'start', id: 'failed' }], error: error('cut') }],
      });
      const { events } = await world.open();
      expect(events.filter(({ type }) => type === 'start')).toEqual([start]);
    });

    it.each<[string, Script]>([
      ['nothing', { events: [] }],
      ['only a start and usage', { events: [start, usage] }],
      ['empty text', { events: [start, { type: 'text', choice: 0, text: '' }] }],
    ])('treats an answer with %s as unreadable', async (_, script) => {
      const world = new World({ openai: [script] });
      const { outcomes } = await world.open();
      expect(outcomes).toEqual(['unreadable', 'answered']);
    });

    it('answers when the immediate retry succeeds', async () => {
      const world = new World({ openai: [bad('server')] });
      const { events, outcomes } = await world.open();
      expect(world.called).toEqual(['openai', 'openai']);
      expect(events[0]).toMatchObject({ route: { provider: 'openai' } });
      expect(outcomes).toEqual(['server', 'answered']);
    });

    it('does not retry at once when the vendor asks to wait', async () => {
      const world = new World({ openai: [bad('server', { retryAfterMs: 60_000 })] });
      await world.open();
      expect(world.called).toEqual(['openai', 'azure']);
    });

    it('returns a bad request at once', async () => {
      const world = new World({ openai: [bad('caller', { param: 'stop' })] });
      const { failure, events } = await world.open(CHAIN);
      expect(failure).toMatchObject({ status: 400, param: 'stop', message: 'vendor: caller' });
      expect(world.called).toEqual(['openai']);
      expect(events).toEqual([]);
    });

    it('returns a bad request found by the retry', async () => {
      const world = new World({ openai: [bad('server'), bad('caller')] });
      expect((await world.open(CHAIN)).failure).toMatchObject({ status: 400 });
      expect(world.called).toEqual(['openai', 'openai']);
    });

    it('lists the tried routes when none answers', async () => {
      const world = new World({
        openai: [bad('server'), bad('server')],
        azure: [bad('operator')],
        anthropic: [bad('connect')],
      });
      const { failure, outcomes } = await world.open(CHAIN);
      expect(failure).toMatchObject({ status: 502, type: 'provider_error' });
      expect(outcomes).toEqual(['server', 'server', 'operator', 'connect']);
    });

    it('tries exactly one route when fallbacks are off', async () => {
      const world = new World({ openai: [bad('connect')] });
      const { failure } = await world.open({ ...CHAIN, provider: { allow_fallbacks: false } });
      expect(failure).toMatchObject({ status: 502 });
      expect(world.called).toEqual(['openai']);
    });

    it('does not hide an internal error behind a fallback', async () => {
      const world = new World({ openai: [{ error: new TypeError('bug') as never }] });
      expect((await world.open()).failure).toBeInstanceOf(TypeError);
      expect(world.called).toEqual(['openai']);
    });
  });

  describe('after the first content', () => {
    it.each<[UpstreamFailure, object]>([
      ['cut', { status: 502, type: 'provider_error' }],
      ['reset', { status: 502 }],
      ['server', { status: 502 }],
      ['timeout', { status: 504, type: 'timeout_error' }],
      ['slow_reader', { status: 504, type: 'timeout_error' }],
    ])('never falls back: %s', async (failing, expected) => {
      const world = new World({ openai: [{ events: [start, text], error: error(failing) }] });
      const { events, failure, outcomes } = await world.open(CHAIN);
      expect(failure).toMatchObject(expected);
      expect(events.map(({ type }) => type)).toEqual(['route', 'start', 'text']);
      expect(world.called).toEqual(['openai']);
      expect(outcomes).toEqual([failing]);
    });
  });
});
