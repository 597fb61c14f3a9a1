import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import openapiTypescript, { astToString } from 'openapi-typescript';
import { withAliases, type ApiDescription } from '../support/api-description.js';
import { bootGateway } from '../support/boot-gateway.js';

/** Ten times as fast as the JavaScript compiler. */
const COMPILER = 'node_modules/typescript-native/bin/tsc';

interface Body {
  content: Record<string, { schema: Schema; examples?: Record<string, { value: unknown }> }>;
}

interface Schema {
  $ref?: string;
  type?: string | string[];
  [word: string]: unknown;
}

interface Operation {
  operationId?: string;
  summary?: string;
  tags?: string[];
  security?: object[];
  requestBody?: Body;
  responses: Record<string, Partial<Body>>;
}

/** The most used operations by id, with their paths and aliases. */
const CANONICAL: Record<string, { path: string; aliases: string[] }> = {
  createChatCompletion: {
    path: 'post /v1/chat/completions',
    aliases: ['/api/v1/chat/completions'],
  },
  createMessage: { path: 'post /v1/messages', aliases: ['/v1/anthropic/messages'] },
  createResponse: { path: 'post /v1/responses', aliases: ['/api/v1/responses'] },
  createEmbeddings: { path: 'post /v1/embeddings', aliases: ['/api/v1/embeddings'] },
  createSpeech: { path: 'post /v1/audio/speech', aliases: ['/api/v1/audio/speech'] },
  createJob: { path: 'post /v1/jobs', aliases: ['/api/v1/jobs'] },
  getJob: { path: 'get /v1/jobs/{id}', aliases: ['/api/v1/jobs/{id}'] },
  listModels: { path: 'get /v1/models', aliases: [] },
  createApiKey: { path: 'post /v1/customer/api-keys', aliases: [] },
};

/** A program that calls the gateway with the generated types only. */
const PROGRAM = `
import type { components, operations, paths } from './api';

type Schemas = components['schemas'];
declare function send<Path extends keyof paths>(path: Path, body: unknown): Promise<Response>;

export async function chat(): Promise<string> {
  const body: operations['createChatCompletion']['requestBody']['content']['application/json'] = {
    model: 'sandbox/echo',
    messages: [{ role: 'user', content: 'Hello' }],
    tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }],
  };
  const whole: Schemas['ChatCompletion'] = await (await send('/v1/chat/completions', body)).json();
  return whole.choices[0]?.message.content ?? '';
}

export function readChunk(data: string): string {
  type Answers = operations['createChatCompletion']['responses'][200]['content'];
  const chunk: Answers['text/event-stream'] = JSON.parse(data);
  return chunk.choices.map(({ delta }) => delta.content ?? '').join('');
}

export const speech: Schemas['SpeechRequest'] = {
  model: 'sandbox/speech',
  input: 'Hello',
  voice: 'alloy',
};

export const message: Schemas['MessageRequest'] = {
  model: 'sandbox/echo',
  max_tokens: 10,
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
};

export const turn: Schemas['ResponseRequest'] = { model: 'sandbox/echo', input: 'Hello' };

export async function firstModel(): Promise<string | undefined> {
  const list: Schemas['ModelList'] = await (await send('/v1/models', undefined)).json();
  return list.data[0]?.id;
}

export async function job(): Promise<string | null | undefined> {
  const body: Schemas['JobRequest'] = { model: 'sandbox/image', prompt: 'A lighthouse' };
  const made: Schemas['Job'] = await (await send('/v1/jobs', body)).json();
  const url: string | undefined = made.result?.data[0]?.url;
  return made.status === 'succeeded' ? url : made.error?.message;
}

// @ts-expect-error There is no such role.
export const wrong: Schemas['ChatMessage'] = { role: 'nobody', content: '' };
`;

describe('the OpenAPI description', () => {
  let document: ApiDescription<Operation>;
  let operations: { name: string; operation: Operation }[];
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gateway-description-'));
    const gateway = await bootGateway();
    document = (await (await fetch(`${gateway.url}/docs-json`)).json()) as typeof document;
    await gateway.close();
    operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        name: `${method} ${path}`,
        operation,
      })),
    );
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('is printed by a command without settings, a database or a data folder', async () => {
    // The command exits, since it leaves nothing open.
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath,
      [join(process.cwd(), 'dist/src/cli.js'), 'openapi'],
      {
        cwd: folder,
        env: { PORT: 'none', DATABASE_URL: 'postgres://127.0.0.1:1/none' },
        maxBuffer: 100_000_000,
      },
    );
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual(document);
    expect(await readdir(folder)).toEqual([]);
  });

  it('is valid OpenAPI 3.1 with JSON Schema', () => {
    expect(document.openapi).toBe('3.1.0');
    expect(JSON.stringify(document)).not.toMatch(/"nullable":true|Dto"|"title":"[A-Z]\w+Request"/);
  });

  it('gives every operation a unique, readable name', () => {
    const ids = operations.map(({ operation }) => operation.operationId ?? '');
    expect(ids.filter((id) => !/^[a-z]+([A-Z][a-z]+)+$/.test(id))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it.each(Object.entries(CANONICAL))('shows %s once', (id, { path, aliases }) => {
    const found = operations.filter(({ operation }) => operation.operationId === id);
    expect(found.map(({ name }) => name)).toEqual([path]);
    const all = Object.keys(withAliases(document));
    expect(all).toEqual(expect.arrayContaining(aliases));
    for (const alias of aliases) expect(document.paths).not.toHaveProperty([alias]);
  });

  it('has one security scheme for tenants, one for operators and one for pages, required by all non-public paths', () => {
    expect(Object.keys(document.components.securitySchemes)).toEqual([
      'bearer',
      'admin',
      'session',
    ]);
    const ofOperators = operations.filter(({ name }) => name.includes(' /v1/admin/'));
    for (const { operation } of ofOperators) {
      expect(operation).toMatchObject({ tags: ['Admin'], security: [{ admin: [] }] });
    }
    expect(document).toMatchObject({ security: [{ bearer: [] }] });
    const open = operations.filter(({ operation }) => operation.security?.length === 0);
    const tags = new Set(open.flatMap(({ operation }) => operation.tags));
    expect([...tags].sort()).toEqual(['Artifacts', 'Login', 'Operations']);
  });

  it('names the schema of every JSON body, also of streams', () => {
    const anonymous = operations.flatMap(({ name, operation }) =>
      [operation.requestBody, ...Object.values(operation.responses)].flatMap((body) =>
        Object.entries(body?.content ?? {})
          .filter(([type]) => type === 'application/json' || type === 'text/event-stream')
          .filter(([, { schema }]) => schema.$ref === undefined)
          .map(([type]) => `${name}: ${type}`),
      ),
    );
    expect(anonymous).toEqual([]);
  });

  it('has an example of every JSON request body', () => {
    const silent = operations.filter(({ operation }) => {
      const json = operation.requestBody?.content['application/json'];
      return json && Object.keys(json.examples ?? {}).length === 0;
    });
    expect(silent.map(({ name }) => name)).toEqual([]);
  });

  it('has no dangling references', () => {
    const names = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)];
    expect(names.length).toBeGreaterThan(100);
    const missing = names.filter(([, name = '']) => !(name in document.components.schemas));
    expect(missing).toEqual([]);
  });

  it('generates types that a strict program can use', async () => {
    const ast = await openapiTypescript(structuredClone(document) as never);
    await writeFile(join(folder, 'api.ts'), astToString(ast));
    await writeFile(join(folder, 'program.ts'), PROGRAM);
    const compilerOptions = {
      strict: true,
      noUncheckedIndexedAccess: true,
      exactOptionalPropertyTypes: true,
      noEmit: true,
      target: 'es2023',
      module: 'esnext',
      moduleResolution: 'bundler',
      lib: ['es2023', 'dom'],
      types: [],
      skipDefaultLibCheck: true,
    };
    const project = { compilerOptions, files: ['program.ts'] };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(project));
    const faults = await promisify(execFile)(process.execPath, [COMPILER, '-p', folder]).then(
      ({ stdout }) => stdout,
      (error: Error & { stdout?: string }) => error.stdout || error.message,
    );
    expect(faults).toBe('');
  });
});
