import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import OpenAI, { toFile } from 'openai';
import { reply, startScriptedServer, type ScriptedServer } from '../contract/scripted-server.js';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { findLedgerFaults } from '../support/ledger-invariants.js';
import { loggedRequest } from '../support/logged-request.js';
import { writeOperatorFiles, type OperatorFiles } from '../support/operator-files.js';
import { filesOfUploads } from '../support/uploads.js';

const PNG = Buffer.from('\x89PNG\r\n\x1a\n of a boat', 'latin1');
const usage = {
  input_tokens: 50,
  input_tokens_details: { text_tokens: 10, image_tokens: 40 },
  output_tokens: 100,
  total_tokens: 150,
};
const picture = {
  data: [{ b64_json: PNG.toString('base64') }],
  usage,
};
const json = (status: number, body: unknown) =>
  reply(status, { 'content-type': 'application/json' }, Buffer.from(JSON.stringify(body)));

describe('image edits and variations', () => {
  let vendor: ScriptedServer;
  let files: OperatorFiles;
  let gateway: BootedGateway;
  let client: OpenAI;

  beforeAll(async () => {
    vendor = await startScriptedServer(json(200, picture));
    const row = {
      kind: 'image',
      context_length: 1_000,
      architecture: {
        modality: 'text+image->image',
        input_modalities: ['text', 'image'],
        output_modalities: ['image'],
        tokenizer: 'none',
      },
      pricing: { prompt: '0', completion: '0', image: '0.04' },
    };
    files = await writeOperatorFiles({ one: `${vendor.origin}/v1` }, [
      { id: 'one/edit', ...row, supported_parameters: ['image', 'prompt', 'n'] },
      { id: 'one/draw', ...row, supported_parameters: ['prompt', 'n'] },
    ]);
    gateway = await bootGateway(files.environment);
    client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.apiKey, maxRetries: 0 });
  });
  beforeEach(() => {
    vendor.script = json(200, picture);
    vendor.calls.length = 0;
  });
  afterAll(async () => {
    expect(await filesOfUploads(gateway)).toEqual([]);
    expect(await findLedgerFaults(gateway.database)).toEqual([]);
    await gateway.close();
    await vendor.close();
    await files.remove();
  });

  const png = (name = 'boat.png') => toFile(PNG, name, { type: 'image/png' });
  const sentForm = async (): Promise<FormData> => {
    const [call] = vendor.calls;
    return new Response(new Uint8Array(call!.body), {
      headers: { 'content-type': call!.headers['content-type']! },
    }).formData();
  };

  it('send files and fields unchanged, and are charged per image', async () => {
    const { data, response } = await client.images
      .edit({
        model: 'one/edit',
        prompt: 'With a sail',
        image: [await png('a.png'), await png('b.png')],
        mask: await png('mask.png'),
        n: 1,
        quality: 'high',
      })
      .withResponse();
    expect(data.data).toEqual([{ b64_json: PNG.toString('base64') }]);
    expect(data.usage).toMatchObject(usage);
    expect(vendor.calls[0]?.path).toBe('/v1/images/edits');
    const sent = await sentForm();
    const images = sent.getAll('image[]') as File[];
    expect(images.map(({ name, type }) => [name, type])).toEqual([
      ['a.png', 'image/png'],
      ['b.png', 'image/png'],
    ]);
    expect(Buffer.from(await images[1]!.arrayBuffer()).equals(PNG)).toBe(true);
    expect((sent.get('mask') as File).name).toBe('mask.png');
    for (const name of ['image[]', 'mask']) sent.delete(name);
    expect(Object.fromEntries(sent)).toEqual({
      model: 'edit',
      prompt: 'With a sail',
      n: '1',
      quality: 'high',
      response_format: 'b64_json',
    });
    const row = await loggedRequest(gateway.database, response.headers.get('x-request-id'));
    expect(row).toMatchObject({ outcome: 'completed', cost: 40_000, endpoint: 'images.edits' });
  });

  it('support variations, also in the sandbox', async () => {
    const image = await png();
    const varied = await client.images.createVariation({ model: 'one/edit', image });
    expect(varied.data).toHaveLength(1);
    expect(vendor.calls[0]?.path).toBe('/v1/images/variations');
    expect((await sentForm()).has('prompt')).toBe(false);
    const edited = await client.images.edit({ model: 'sandbox/image', prompt: 'x', image, n: 2 });
    expect(edited.data).toHaveLength(2);
  });

  it('cost nothing when the vendor refuses or fails', async () => {
    const image = await png();
    const ask = () => client.images.edit({ model: 'one/edit', prompt: 'x', image });
    vendor.script = json(400, { error: { message: 'No boats.', param: 'prompt' } });
    await expect(ask()).rejects.toMatchObject({ status: 400, param: 'prompt' });
    vendor.script = json(200, { data: [] });
    await expect(ask()).rejects.toMatchObject({ status: 502 });
    const { rows } = await gateway.database.query<{ cost: number }>(
      "SELECT cost FROM request_logs WHERE outcome = 'failed'",
    );
    expect(rows.map(({ cost }) => cost)).toEqual([0, 0]);
  });

  it('are rejected for inputs without a price, and files that are not images', async () => {
    const refusalOf = async (
      path: string,
      fields: Record<string, string>,
      ...sent: [string, Blob][]
    ): Promise<[number, string]> => {
      const body = new FormData();
      for (const [name, value] of Object.entries(fields)) body.append(name, value);
      for (const [name, value] of sent) body.append(name, value, 'a.png');
      const answer = await gateway.fetch(`/v1/images/${path}`, { method: 'POST', body });
      const { error } = (await answer.json()) as { error: { param: string } };
      return [answer.status, error.param];
    };
    const image = new Blob([new Uint8Array(PNG)]);
    const edit = { model: 'one/edit', prompt: 'x' };
    expect(await refusalOf('edits', { ...edit, model: 'one/draw' }, ['image', image])).toEqual([
      400,
      'image',
    ]);
    expect(await refusalOf('edits', edit)).toEqual([400, 'image']);
    expect(await refusalOf('edits', { ...edit, image: 'x' })).toEqual([400, 'image']);
    expect(await refusalOf('edits', edit, ['image', new Blob(['x'])])).toEqual([400, 'image']);
    expect(await refusalOf('edits', edit, ['file', image])).toEqual([400, 'file']);
    expect(
      await refusalOf('edits', edit, ['image', image], ['mask', image], ['mask', image]),
    ).toEqual([400, 'mask']);
    expect(
      await refusalOf('variations', { model: 'one/edit' }, ['image', image], ['image', image]),
    ).toEqual([400, 'image']);
    expect(await refusalOf('edits', { ...edit, model: 'sandbox/echo' }, ['image', image])).toEqual([
      400,
      'model',
    ]);
    const large = new Blob([new Uint8Array(26_000_000)]);
    expect(await refusalOf('edits', edit, ['image', large])).toEqual([413, 'image']);
    expect(vendor.calls).toEqual([]);
  });
});
