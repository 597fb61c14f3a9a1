import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Model } from '../../core/catalogue/catalogue.types.js';
import { assertImageEdit, identifyImages, makeImageEdit } from './image-edit.parse.js';

const PNG = '\x89PNG\r\n\x1a\n and more';

describe(identifyImages.name, () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'identify-images-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  let count = 0;
  const file = async (field: string, text: string, fileName = 'a.b.png') => {
    const path = join(folder, String(count++));
    await writeFile(path, text, 'latin1');
    return { field, path, sizeBytes: text.length, fileName };
  };

  it('identifies images by content and names them accordingly', async () => {
    const { images, mask } = await identifyImages([
      await file('image', PNG),
      await file('mask', PNG, ''),
      await file('image', '\xff\xd8\xff', '../x"y.png'),
      await file('image', 'RIFF....WEBP', 'a'),
    ]);
    expect(images.map(({ fileName, contentType }) => [fileName, contentType])).toEqual([
      ['a.b.png', 'image/png'],
      ['.._x_y.jpg', 'image/jpeg'],
      ['a.webp', 'image/webp'],
    ]);
    expect(mask).toMatchObject({ fileName: 'image.png' });
  });

  it('rejects files that are not images', async () => {
    const refused = async (param: string, ...files: [string, string][]): Promise<void> => {
      const given = await Promise.all(files.map(([field, text]) => file(field, text)));
      await expect(identifyImages(given)).rejects.toMatchObject({ param, status: 400 });
    };
    await refused('image');
    await refused('image', ['mask', PNG]);
    await refused('image', ['image', 'GIF89a']);
    await refused('image', ['image', '']);
    await refused('mask', ['image', PNG], ['mask', 'text']);
  });
});

describe(assertImageEdit.name, () => {
  it.each([
    ['prompt', 'edit', { prompt: undefined }],
    ['prompt', 'variation', {}],
    ['n', 'edit', { n: 11 }],
    ['response_format', 'edit', { response_format: 'url' }],
    ['stream', 'edit', { stream: true }],
  ] as const)('rejects an invalid %s of an %s', (param, task, fields) => {
    const body = { model: 'one/draw', prompt: 'A boat', ...fields };
    expect(() => assertImageEdit(body, task)).toThrow(expect.objectContaining({ param }));
  });
});

describe(makeImageEdit.name, () => {
  const picture = { path: '/a', sizeBytes: 1, fileName: 'a.png', contentType: 'image/png' };
  const make = (fields: object, supported: string[]) =>
    makeImageEdit(
      { model: 'one/draw', prompt: 'A boat', ...fields },
      'edit',
      { images: [picture, picture], mask: picture },
      () =>
        ({
          supported_parameters: supported,
          media_tokens: { image: 100 },
        }) as Partial<Model> as Model,
    );

  it('allows shared capacity when input images have a price', () => {
    expect(make({ n: 2 }, ['image'])).toMatchObject({
      task: 'edit',
      count: 2,
      accountBoundParam: undefined,
      // Tokens of the prompt and of three images.
      ceiling: { imageCount: 2, inputTokens: 2 + 300 },
    });
    expect(make({}, []).accountBoundParam).toMatchObject({ param: 'image' });
    expect(make({ service_tier: 'priority' }, ['image']).accountBoundParam).toMatchObject({
      param: 'service_tier',
    });
  });
});
