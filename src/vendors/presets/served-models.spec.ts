import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../platform/http/json-body.js';
import type { ServedModel } from '../upstream.js';
import type { LocalServer } from './preset.js';
import { readServedModels } from './served-models.js';

/** Reads models from a server with these answers by path; it fails for any other path. */
async function read(
  server: LocalServer,
  answers: Record<string, JsonObject | ((body: JsonObject | undefined) => JsonObject)>,
  shown = new Map<string, ServedModel>(),
): Promise<{ models: ServedModel[]; asked: string[] }> {
  const asked: string[] = [];
  const models = await readServedModels(
    server,
    (path, body) => {
      asked.push(path);
      const answer = answers[path];
      if (!answer) return Promise.reject(new Error(`nothing at ${path}`));
      return Promise.resolve(typeof answer === 'function' ? answer(body) : answer);
    },
    shown,
  );
  return { models, asked };
}

const list = (...data: JsonObject[]): JsonObject => ({ object: 'list', data });

describe(readServedModels.name, () => {
  it.each(['vllm', 'sglang'] as const)('reads the context length that %s lists', async (server) => {
    const models = list({ id: 'a/b', max_model_len: 8_192 }, { id: 'c' }, { object: 'model' });
    expect(await read(server, { models })).toEqual({
      models: [
        { id: 'a/b', kind: 'chat', contextLength: 8_192 },
        { id: 'c', kind: 'chat' },
      ],
      asked: ['models'],
    });
  });

  it('requests the details of each model from Ollama once', async () => {
    const answers = {
      models: list({ id: 'llama3.2:latest' }, { id: 'embedder' }, { id: 'broken' }),
      '/api/show': (body: JsonObject | undefined): JsonObject => {
        if (body?.model === 'broken') throw new Error('no');
        return body?.model === 'embedder'
          ? { capabilities: ['embedding'], model_info: { 'bert.context_length': 512 } }
          : { capabilities: ['completion'], model_info: { 'llama.context_length': 131_072 } };
      },
    };
    const shown = new Map<string, ServedModel>();
    const expected = [
      { id: 'llama3.2:latest', kind: 'chat', contextLength: 131_072 },
      { id: 'embedder', kind: 'embedding', contextLength: 512 },
      { id: 'broken', kind: 'chat' },
    ];
    const fails = {
      ...answers,
      '/api/show': (body: JsonObject | undefined) =>
        body?.model === 'broken' ? ({} satisfies JsonObject) : answers['/api/show'](body),
    };
    expect((await read('ollama', fails, shown)).models).toEqual(expected);
    expect((await read('ollama', fails, shown)).asked).toEqual(['models']);
  });

  it('reads the context length of llama.cpp from its properties, else from the list', async () => {
    const models = list({ id: 'm', meta: { n_ctx_train: 4_096 } });
    const props = { default_generation_settings: { n_ctx: 2_048 } };
    expect((await read('llamacpp', { models, '/props': props })).models).toEqual([
      { id: 'm', kind: 'chat', contextLength: 2_048 },
    ]);
    expect((await read('llamacpp', { models })).models).toEqual([
      { id: 'm', kind: 'chat', contextLength: 4_096 },
    ]);
  });

  it("reads LM Studio's own list, or the common one without it", async () => {
    const own = list(
      { id: 'q', type: 'llm', max_context_length: 32_768, loaded_context_length: 4_096 },
      { id: 'e', type: 'embeddings', max_context_length: 2_048 },
    );
    expect((await read('lmstudio', { '/api/v0/models': own })).models).toEqual([
      { id: 'q', kind: 'chat', contextLength: 4_096 },
      { id: 'e', kind: 'embedding', contextLength: 2_048 },
    ]);
    expect((await read('lmstudio', { models: list({ id: 'q' }) })).models).toEqual([
      { id: 'q', kind: 'chat' },
    ]);
  });

  it('fails when the server does not list its models', async () => {
    await expect(read('vllm', {})).rejects.toThrow('nothing at models');
    expect((await read('vllm', { models: { data: 'none' } })).models).toEqual([]);
  });
});
