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
  ])('makes of %s a job for %s', (model, modality, kind) => {
    expect(parse({ model })).toMatchObject({ modality, request: { kind } });
  });

  it('takes the first model of a chain for what is made, and keeps the chain', () => {
    const chain = { model: undefined, models: ['one/film', 'one/draw'] };
    expect(parse(chain)).toMatchObject({
      modality: 'video',
      request: { models: ['one/film', 'one/draw'] },
    });
  });

  it('keeps for itself what no vendor is to get', () => {
    const own = { metadata: { team: 'a' }, webhook_url: 'https://a.test/hook', trace: { id: 'x' } };
    const { request, ...parsed } = parse({ ...own, style: 'vivid' });
    expect(parsed).toMatchObject({
      metadata: { team: 'a' },
      webhookUrl: 'https://a.test/hook',
      trace: { id: 'x' },
    });
    expect(request.body.value).toEqual({ model: 'one/draw', prompt: 'A boat', style: 'vivid' });
  });

  it('has neither metadata nor a webhook where none is given', () => {
    const nothing = { metadata: null, webhookUrl: undefined };
    expect(parse({})).toMatchObject(nothing);
    expect(parse({ metadata: null, webhook_url: null })).toMatchObject(nothing);
  });

  it('names all texts that may steer the work, the first of them what it is made of', () => {
    const { texts, textField } = parse({ prompt: undefined, input: 'A boat', style: 'oil', n: 2 });
    expect([texts, textField]).toEqual([['A boat', 'oil'], 'input']);
    expect(parse({ negative_prompt: 'people' }).texts).toEqual(['A boat', 'people']);
  });

  it.each<[string, string, JsonObject]>([
    ['no text', 'prompt', { prompt: undefined }],
    ['no text to speak', 'input', { model: 'one/speak', prompt: undefined }],
    ['two texts', 'input', { input: 'A ship' }],
    ['an empty prompt', 'prompt', { prompt: ' \n' }],
    ['an empty input', 'input', { prompt: undefined, input: ' ' }],
    ['more characters than the model takes', 'prompt', { model: 'one/short', prompt: 'A boat' }],
    ['too many pictures', 'n', { n: 11 }],
    ['too long a video', 'seconds', { model: 'one/film', seconds: '61' }],
    [
      'a format that speech has not',
      'response_format',
      { model: 'one/speak', response_format: 'b' },
    ],
    ['a stream', 'stream', { stream: true }],
    ['metadata that are no texts', 'metadata.a', { metadata: { a: 1 } }],
    ['a model of another kind', 'model', { model: 'one/chat' }],
    ['a chain that begins with one', 'models', { model: undefined, models: ['one/chat'] }],
  ])('refuses %s', (_, param, fields) => {
    expect(refusalOf(() => parse(fields))).toMatchObject({ status: 400, param });
  });

  it('counts characters as readers do', () => {
    expect(parse({ model: 'one/short', prompt: '⛵⛵🚢🚢🚢' }).texts).toEqual(['⛵⛵🚢🚢🚢']);
  });

  it.each([
    ['model', { model: 'one/none' }],
    ['models', { model: undefined, models: ['one/none', 'one/draw'] }],
  ])('finds no unknown model by `%s`', (param, fields) => {
    expect(refusalOf(() => parse(fields))).toMatchObject({ status: 404, param });
  });

  it.each([
    ['6', 6],
    [6, 6],
    [60, 60],
    [undefined, undefined],
  ])('reads %j seconds of a video', (seconds, expected) => {
    expect(parse({ model: 'one/film', seconds }).request).toMatchObject({
      kind: 'video',
      seconds: expected,
    });
  });
});

describe(parseImageGeneration.name, () => {
  const generate = (fields: JsonObject) =>
    parseImageGeneration({ model: 'one/draw', prompt: 'A boat', ...fields }, find);

  it('gives pictures as models do that know of no format, unless told otherwise', () => {
    expect(generate({}).format).toBe('b64_json');
    expect(generate({ model: 'one/paint' }).format).toBe('url');
    expect(generate({ response_format: 'url' }).format).toBe('url');
    expect(generate({ model: 'one/paint', response_format: 'b64_json' }).format).toBe('b64_json');
  });

  it('leaves out the fields that only jobs have', () => {
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
  ])('refuses a bad %s', (param, fields) => {
    expect(refusalOf(() => generate(fields))).toMatchObject({ status: 400, param });
  });
});
