import { describe, expect, it } from '@jest/globals';
import { chatModel, modelRoute } from '../../../test/support/catalogue-models.js';
import type { Model } from '../../core/catalogue/catalogue.types.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { parseImageGeneration } from './image-generation.parse.js';
import { parseJob } from './jobs.parse.js';

const modelOf = (id: string, overrides: Partial<Model>): Model =>
  chatModel(id, [modelRoute('one')], overrides);
const MODELS = [
  modelOf('one/draw', { kind: 'image' }),
  modelOf('one/paint', { kind: 'image', supported_parameters: ['response_format'] }),
  modelOf('one/film', { kind: 'video' }),
  modelOf('one/speak', { kind: 'speech' }),
  modelOf('one/chat', { kind: 'chat' }),
  modelOf('one/short', {
    kind: 'image',
    context_length: 5,
    architecture: {
      modality: 'text->image',
      input_modalities: ['text'],
      output_modalities: ['image'],
      tokenizer: 'none',
    },
  }),
];
const find = (alias: string): Model | undefined => MODELS.find(({ id }) => id === alias);
const parse = (fields: JsonObject) =>
  parseJob({ model: 'one/draw', prompt: 'A boat', ...fields }, find);
const refusalOf = (run: () => unknown): unknown => {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
};

describe(parseJob.name, () => {
  it.each([
    ['one/draw', 'image', 'image'],
    ['one/film', 'video', 'video'],
    ['one/speak', 'audio', 'speech'],
  ])('turns %s into a job for %s', (model, modality, kind) => {
    expect(parse({ model })).toMatchObject({ modality, request: { kind } });
  });

  it('takes the modality from the first model of a chain and keeps the chain', () => {
    const chain = { model: undefined, models: ['one/film', 'one/draw'] };
    expect(parse(chain)).toMatchObject({
      modality: 'video',
      request: { models: ['one/film', 'one/draw'] },
    });
  });

  it('keeps gateway fields out of the vendor body', () => {
    const own = { metadata: { team: 'a' }, webhook_url: 'https://a.test/hook', trace: { id: 'x' } };
    const { request, ...parsed } = parse({ ...own, style: 'vivid' });
    expect(parsed).toMatchObject({
      metadata: { team: 'a' },
      webhookUrl: 'https://a.test/hook',
      trace: { id: 'x' },
    });
    expect(request.body.value).toEqual({ model: 'one/draw', prompt: 'A boat', style: 'vivid' });
  });

  it('has no metadata or webhook by default', () => {
    const nothing = { metadata: null, webhookUrl: undefined };
    expect(parse({})).toMatchObject(nothing);
    expect(parse({ metadata: null, webhook_url: null })).toMatchObject(nothing);
  });

  it('returns all texts that can influence the output, main text first', () => {
    const { texts, textField } = parse({ prompt: undefined, input: 'A boat', style: 'oil', n: 2 });
    expect([texts, textField]).toEqual([['A boat', 'oil'], 'input']);
    expect(parse({ negative_prompt: 'people' }).texts).toEqual(['A boat', 'people']);
  });

  it.each<[string, string, JsonObject]>([
    ['a missing text', 'prompt', { prompt: undefined }],
    ['a missing speech text', 'input', { model: 'one/speak', prompt: undefined }],
    ['two texts', 'input', { input: 'A ship' }],
    ['an empty prompt', 'prompt', { prompt: ' \n' }],
    ['an empty input', 'input', { prompt: undefined, input: ' ' }],
    ['more characters than the model accepts', 'prompt', { model: 'one/short', prompt: 'A boat' }],
    ['too many images', 'n', { n: 11 }],
    ['too long a video', 'seconds', { model: 'one/film', seconds: '61' }],
    [
      'an unsupported speech format',
      'response_format',
      { model: 'one/speak', response_format: 'b' },
    ],
    ['a stream', 'stream', { stream: true }],
    ['metadata that is not a string', 'metadata.a', { metadata: { a: 1 } }],
    ['a model of another kind', 'model', { model: 'one/chat' }],
    ['a chain that starts with one', 'models', { model: undefined, models: ['one/chat'] }],
  ])('rejects %s', (_, param, fields) => {
    expect(refusalOf(() => parse(fields))).toMatchObject({ status: 400, param });
  });

  it('counts code points', () => {
    expect(parse({ model: 'one/short', prompt: '⛵⛵🚢🚢🚢' }).texts).toEqual(['⛵⛵🚢🚢🚢']);
  });

  it.each([
    ['model', { model: 'one/none' }],
    ['models', { model: undefined, models: ['one/none', 'one/draw'] }],
  ])('rejects an unknown model in `%s`', (param, fields) => {
    expect(refusalOf(() => parse(fields))).toMatchObject({ status: 404, param });
  });

  it.each([
    ['6', 6],
    [6, 6],
    [60, 60],
    [undefined, undefined],
  ])('parses %j as seconds of a video', (seconds, expected) => {
    expect(parse({ model: 'one/film', seconds }).request).toMatchObject({
      kind: 'video',
      seconds: expected,
    });
  });
});

describe(parseImageGeneration.name, () => {
  const generate = (fields: JsonObject) =>
    parseImageGeneration({ model: 'one/draw', prompt: 'A boat', ...fields }, find);

  it('defaults the format to that of the model', () => {
    expect(generate({}).format).toBe('b64_json');
    expect(generate({ model: 'one/paint' }).format).toBe('url');
    expect(generate({ response_format: 'url' }).format).toBe('url');
    expect(generate({ model: 'one/paint', response_format: 'b64_json' }).format).toBe('b64_json');
  });

  it('removes fields that only jobs have', () => {
    const { parsed } = generate({
      input: 7,
      webhook_url: 'https://a.test',
      stream: false,
      size: 's',
    });
    expect(parsed.webhookUrl).toBeUndefined();
    expect(parsed.request.body.value).toEqual({ model: 'one/draw', prompt: 'A boat', size: 's' });
  });

  it.each<[string, JsonObject]>([
    ['model', { model: 'one/film' }],
    ['prompt', { prompt: undefined }],
    ['response_format', { response_format: 'png' }],
    ['n', { n: 0 }],
  ])('rejects an invalid %s', (param, fields) => {
    expect(refusalOf(() => generate(fields))).toMatchObject({ status: 400, param });
  });
});
