import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { transform } from '@swc/core';
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { applyChange, diffsOfThePage, filesOfThePage } from '../support/files-of-the-page.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const EXAMPLE = join(ROOT, 'test/support/imaginary-vendor');
/** Runs whatever a page shows against the changed copy, and prints what it found. */
const PROGRAM = `
  import { chatPrompt } from './js/features/chat/chat.prompt.js';
  import { encodeChatPrompt, fieldsChatLacks } from './js/vendors/dialects/chat/encode-chat-request.js';
  import { encodeGenerateContentRequest } from './js/vendors/dialects/generate-content/encode-generate-content-request.js';
  import { droppedFromMessages } from './js/vendors/dialects/messages/encode-messages-request.js';
  import { geminiTraits } from './js/vendors/vertex/gemini-traits.js';
  import { CHAT_FIELDS } from './js/vendors/dialects/known-fields.js';
  import { VENDORS } from './js/vendors/vendors.js';
  const body = { model: 'a/b', messages: [{ role: 'user', content: 'Hi' }], focus: 0.5 };
  const prompt = chatPrompt(body);
  const request = { dialect: 'chat', body: { value: body }, choices: 1, stream: false, prompt: () => prompt };
  const call = { request, upstreamModel: 'b', maxOutputTokens: 100 };
  const traits = { sampling: true, temperatureWithTopP: true, thinking: 'none', efforts: [] };
  console.log(JSON.stringify({
    chat: JSON.parse(encodeChatPrompt(call, 'max_tokens')).focus,
    lacks: fieldsChatLacks(request),
    generateContent: JSON.parse(encodeGenerateContentRequest(request, geminiTraits('gemini-2.5-flash'))).generationConfig,
    dropped: droppedFromMessages(call, { signatureIssuer: 'x', traits }),
    isKnown: CHAT_FIELDS.has('focus'),
    vendors: VENDORS.map(({ id }) => id),
  }));
`;

interface Found {
  chat: unknown;
  lacks: string[];
  generateContent: unknown;
  dropped: string[];
  isKnown: boolean;
  vendors: string[];
}

const [parameter = [], resource = [], vendor = []] = diffsOfThePage('CONTRIBUTING.md');
const run = promisify(execFile);

/** Applies the diffs of CONTRIBUTING.md and docs/adding-a-provider.md to a copy of the sources. */
describe('the small changes of CONTRIBUTING.md', () => {
  let root: string;

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'walks-'));
    for (const path of ['src', 'migrations', 'tsconfig.json', 'package.json', '.swcrc']) {
      await cp(join(ROOT, path), join(root, path), { recursive: true });
    }
    await symlink(join(ROOT, 'node_modules'), join(root, 'node_modules'));
    for (const change of [...parameter, ...resource, ...vendor]) {
      const text = await readFile(join(root, change.path), 'utf8').catch(() => '');
      await write(join(root, change.path), applyChange(text, change));
    }
    for (const [path, text] of filesOfThePage()) await write(join(root, path), text);
    for (const name of await readdir(EXAMPLE)) {
      const text = await readFile(join(EXAMPLE, name), 'utf8');
      const moved = text
        .replaceAll('../../../src/vendors/', '../')
        .replaceAll('../../../src/', '../../');
      await write(join(root, 'src/vendors/imaginary', name), moved);
    }
  });
  afterAll(() => rm(root, { recursive: true, force: true }));

  it('edit the field table and the chat schema for a parameter', () => {
    expect(parameter.map(({ path }) => path)).toEqual([
      'src/canonical/prompt-field-table.ts',
      'src/features/chat/chat-completion.schema.ts',
    ]);
  });

  it('edit one module for an operator resource', () => {
    expect(resource.map(({ path }) => path)).toEqual([
      'src/features/admin/migrations/migrations.controller.ts',
      'src/features/admin/admin.module.ts',
    ]);
  });

  it('edit the list of vendors for a vendor, and nothing for a preset', () => {
    expect(vendor.map(({ path }) => path)).toEqual(['src/vendors/vendors.ts']);
    const folders = [...filesOfThePage().keys()].map((path) => dirname(path));
    expect(new Set(folders)).toEqual(new Set(['src/vendors/presets/acme']));
  });

  it('pass the type check without further changes', async () => {
    const compiler = join(ROOT, 'node_modules/typescript-native/bin/tsc');
    await write(
      join(root, 'tsconfig.walks.json'),
      '{"extends": "./tsconfig.json", "include": ["src", "migrations"], "exclude": ["**/*.spec.ts"]}',
    );
    const args = [compiler, '--noEmit', '--checkers', '1', '-p', 'tsconfig.walks.json'];
    const printed = await run(process.execPath, args, { cwd: root }).then(
      () => '',
      (error: { stdout?: string }) => error.stdout,
    );
    expect(printed).toBe('');
  }, 180_000);

  it('send the parameter to both vendors, name it for others, and find the vendors', async () => {
    await compile(root);
    await write(join(root, 'program.mjs'), PROGRAM);
    const { stdout } = await run(process.execPath, ['program.mjs'], { cwd: root });
    const found = JSON.parse(stdout) as Found;
    expect(found).toMatchObject({
      chat: 0.5,
      lacks: [],
      generateContent: { focusLevel: 0.5 },
      dropped: ['focus'],
      isKnown: true,
    });
    expect(found.vendors).toEqual(expect.arrayContaining(['acme', 'imaginary']));
  }, 60_000);
});

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

/** Compiles the copy's sources without checking types, and copies their data. */
async function compile(root: string): Promise<void> {
  const { jsc } = JSON.parse(await readFile(join(root, '.swcrc'), 'utf8')) as { jsc: object };
  const names = await readdir(join(root, 'src'), { recursive: true });
  for (const name of names.filter((one) =>
    /^(?:canonical|platform|vendors|features.chat)\b/.test(one),
  )) {
    const target = join(root, 'js', name);
    if (name.endsWith('.json')) {
      await write(target, await readFile(join(root, 'src', name), 'utf8'));
    } else if (name.endsWith('.ts') && !name.endsWith('spec.ts')) {
      const source = await readFile(join(root, 'src', name), 'utf8');
      const { code } = await transform(source, {
        filename: name,
        swcrc: false,
        jsc,
        module: { type: 'es6' },
      });
      await write(target.replace(/\.ts$/, '.js'), code);
    }
  }
}
