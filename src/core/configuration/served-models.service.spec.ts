import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { ServedModel, Upstream } from '../../vendors/upstream.js';
import type { UpstreamRegistry } from '../../vendors/upstream.registry.js';
import { CatalogueService } from '../catalogue/catalogue.service.js';
import type { ConfigurationService } from './configuration.service.js';
import { ServedModelsService } from './served-models.service.js';

type Answer = readonly ServedModel[] | Error;

describe(ServedModelsService.name, () => {
  let answers: Record<string, Answer | undefined>;
  let polled: string[];
  let changed: () => void;
  let catalogue: CatalogueService;
  let service: ServedModelsService;

  beforeEach(() => {
    jest.useFakeTimers();
    Logger.overrideLogger(false);
    answers = {};
    polled = [];
    catalogue = new CatalogueService({ catalogueFile: undefined });
    const upstreamOf = (id: string): Partial<Upstream> => {
      const answer = answers[id];
      if (answer === undefined) return {};
      const servedModels = (): Promise<readonly ServedModel[]> => {
        polled.push(id);
        return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
      };
      return { servedModels };
    };
    service = new ServedModelsService(
      {
        get providers() {
          return Object.keys(answers).map((id) => ({ id }));
        },
        get: upstreamOf,
      } as unknown as UpstreamRegistry,
      catalogue,
      {
        onChange: (listener: () => void) => (changed = listener),
      } as unknown as ConfigurationService,
    );
  });
  afterEach(async () => {
    await service.onApplicationShutdown();
    jest.useRealTimers();
  });

  const pass = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);

  it('does nothing when no server is configured', async () => {
    answers = { openai: undefined };
    service.onApplicationBootstrap();
    await pass(600_000);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('lists a server’s models as free, without “latest” in the name', async () => {
    answers = { ollama: [{ id: 'llama3.2:latest', kind: 'chat', contextLength: 131_072 }] };
    const { fingerprint } = catalogue;
    service.onApplicationBootstrap();
    await pass(0);
    expect(catalogue.find('ollama/llama3.2')).toMatchObject({
      kind: 'chat',
      context_length: 131_072,
      pricing: { prompt: '0', completion: '0' },
      routes: [{ provider: 'ollama', upstreamModel: 'llama3.2:latest' }],
    });
    // Varies between instances.
    expect(catalogue.fingerprint).toBe(fingerprint);
  });

  it('updates the list every minute', async () => {
    answers = { vllm: [{ id: 'a', kind: 'chat' }] };
    service.onApplicationBootstrap();
    await pass(0);
    answers = { vllm: [{ id: 'b', kind: 'embedding' }] };
    await pass(60_000);
    expect(catalogue.find('vllm/a')).toBeUndefined();
    expect(catalogue.find('vllm/b')).toMatchObject({ kind: 'embedding' });
    expect(polled).toHaveLength(2);
  });

  it("keeps the fields of an operator's row, above all the price", async () => {
    answers = { vllm: [{ id: 'a', kind: 'chat', contextLength: 4_096 }] };
    service.onApplicationBootstrap();
    await pass(0);
    const pricing = { prompt: '0.000001', completion: '0.000002' };
    catalogue.use(new Map([['vllm/a', { id: 'vllm/a', pricing }]]), 1);
    expect(catalogue.find('vllm/a')).toMatchObject({ pricing, context_length: 4_096 });
  });

  it('keeps models of an unavailable server for an hour, and drops removed models at once', async () => {
    answers = { ollama: [{ id: 'a', kind: 'chat' }], vllm: [{ id: 'b', kind: 'chat' }] };
    service.onApplicationBootstrap();
    await pass(0);
    answers = { ollama: new Error('away'), vllm: [{ id: 'b', kind: 'chat' }] };
    await pass(3_540_000);
    expect(catalogue.find('ollama/a')).toBeDefined();
    await pass(180_000);
    expect(catalogue.find('ollama/a')).toBeUndefined();
    expect(catalogue.find('vllm/b')).toBeDefined();
    answers = { ollama: [{ id: 'a', kind: 'chat' }] };
    await pass(60_000);
    expect(catalogue.find('ollama/a')).toBeDefined();
  });

  it('stops polling when the last server is removed', async () => {
    answers = { ollama: [{ id: 'a', kind: 'chat' }] };
    service.onApplicationBootstrap();
    await pass(0);
    answers = {};
    changed();
    await pass(0);
    expect(catalogue.find('ollama/a')).toBeUndefined();
    expect(jest.getTimerCount()).toBe(0);
  });
});
