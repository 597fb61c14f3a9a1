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
  let asked: string[];
  let changed: () => void;
  let catalogue: CatalogueService;
  let service: ServedModelsService;

  beforeEach(() => {
    jest.useFakeTimers();
    Logger.overrideLogger(false);
    answers = {};
    asked = [];
    catalogue = new CatalogueService({ catalogueFile: undefined });
    const upstreamOf = (id: string): Partial<Upstream> => {
      const answer = answers[id];
      if (answer === undefined) return {};
      const servedModels = (): Promise<readonly ServedModel[]> => {
        asked.push(id);
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

  it('does nothing where no server is configured', async () => {
    answers = { openai: undefined };
    service.onApplicationBootstrap();
    await pass(600_000);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('lists what a server has, for nothing, under its name without “latest”', async () => {
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
    // It differs from one instance to the next.
    expect(catalogue.fingerprint).toBe(fingerprint);
  });

  it('follows the list each minute', async () => {
    answers = { vllm: [{ id: 'a', kind: 'chat' }] };
    service.onApplicationBootstrap();
    await pass(0);
    answers = { vllm: [{ id: 'b', kind: 'embedding' }] };
    await pass(60_000);
    expect(catalogue.find('vllm/a')).toBeUndefined();
    expect(catalogue.find('vllm/b')).toMatchObject({ kind: 'embedding' });
    expect(asked).toHaveLength(2);
  });

  it('keeps what an operator’s row says of a model, its price above all', async () => {
    answers = { vllm: [{ id: 'a', kind: 'chat', contextLength: 4_096 }] };
    service.onApplicationBootstrap();
    await pass(0);
    const pricing = { prompt: '0.000001', completion: '0.000002' };
    catalogue.use(new Map([['vllm/a', { id: 'vllm/a', pricing }]]), 1);
    expect(catalogue.find('vllm/a')).toMatchObject({ pricing, context_length: 4_096 });
  });

  it('keeps models of a server that went away for an hour, others at once', async () => {
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

  it('asks no more once the last server is configured no more', async () => {
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
