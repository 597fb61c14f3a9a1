import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nextAddress } from '../support/customer-gateways.js';
import { installPython } from './program-clients.js';
import {
  endOf,
  mustRun,
  runProgram,
  runReporting,
  type CallResult,
  type Client,
  type Target,
} from './run-client.js';

const PROGRAMS = fileURLToPath(new URL('.', import.meta.url));
const TYPESCRIPT = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));

/** Saves the description as a file, since most tools read one. */
async function saveDescription(folder: string, { url }: Target): Promise<string> {
  const file = join(folder, 'openapi.json');
  await writeFile(file, await (await fetch(`${url}/docs-json`)).text());
  return file;
}

/** A step that passes when it prints no complaint. */
function judge(call: string, complaints: string): CallResult {
  return { call, model: '-', failure: complaints === '' ? null : complaints };
}

async function installNpm(folder: string, name: string, ...packages: string[]): Promise<string> {
  const prefix = join(folder, name);
  const programs = join(prefix, 'node_modules/.bin');
  if (existsSync(programs)) return programs;
  await mkdir(prefix, { recursive: true });
  const env = { npm_config_local_prefix: prefix, npm_config_prefix: prefix };
  const install = ['install', '--prefix', prefix, '--no-audit', '--no-fund', ...packages];
  await mustRun('npm', install, { cwd: prefix, env });
  return programs;
}

const redocly: Client = {
  name: 'Redocly lint',
  needs: ['npm'],
  async install(folder) {
    await installNpm(folder, 'redocly', '@redocly/cli');
  },
  async run(folder, target) {
    const file = await saveDescription(folder, target);
    const programs = await installNpm(folder, 'redocly', '@redocly/cli');
    const lint = ['lint', file, '--extends=recommended', '--format=stylish'];
    const env = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
    const { code, output, errors } = await runProgram(join(programs, 'redocly'), lint, { env });
    return [judge('lint', code === 0 ? '' : endOf(output + errors))];
  },
};

/** Calls every endpoint that a generated client should support. */
const HEY_API_PROGRAM = `
import { client } from './generated/client.gen';
import { createChatCompletion, createJob, createSpeech, getJob, listModels } from './generated';
import type { ChatCompletionChunk } from './generated';

const model = process.env.GATEWAY_MODELS!.split(',')[0]!;
const wanted = process.env.EXPECTED_TEXT!;
const messages = [{ role: 'user' as const, content: 'Hello' }];
client.setConfig({ baseUrl: process.env.GATEWAY_URL!, auth: process.env.GATEWAY_API_KEY! });

function equal(got: unknown, expected: unknown): void {
  if (got !== expected) throw new Error(\`expected \${expected}, got \${got}\`);
}

const calls: Record<string, () => Promise<void>> = {
  async chat() {
    const { data } = await createChatCompletion({ body: { model, messages }, throwOnError: true });
    equal(data.choices[0]!.message.content, wanted);
  },
  async 'chat, streamed'() {
    const url = '/v1/chat/completions';
    const security = [{ scheme: 'bearer' as const, type: 'http' as const }];
    const headers = { 'Content-Type': 'application/json' };
    const body = { model, messages, stream: true };
    const { stream } = await client.sse.post<ChatCompletionChunk>({ url, security, headers, body });
    let text = '';
    for await (const chunk of stream as AsyncIterable<ChatCompletionChunk | '[DONE]'>) {
      if (chunk !== '[DONE]') text += chunk.choices[0]?.delta.content ?? '';
    }
    equal(text, wanted);
  },
  async speech() {
    const body = { model: 'sandbox/speech', input: 'Hello', voice: 'alloy' };
    const { data } = await createSpeech({ body, throwOnError: true, parseAs: 'blob' });
    equal((data as Blob).size > 100, true);
  },
  async models() {
    const { data } = await listModels({ throwOnError: true });
    equal(data.data.some(({ id }) => id === model), true);
  },
  async jobs() {
    const body = { model: 'sandbox/image', prompt: 'A lighthouse' };
    const { data: made } = await createJob({ body, throwOnError: true });
    const { data } = await getJob({ path: { id: made.id }, throwOnError: true });
    equal(data.id, made.id);
  },
};

void (async () => {
  for (const [call, run] of Object.entries(calls)) {
    const failure = await run().then(() => null, (error: unknown) => (error instanceof Error ? String(error) : JSON.stringify(error)));
    console.log(JSON.stringify({ call, model: '-', failure }));
  }
})();
`;

/** With a TypeScript that has a compiler API, which the newest version lacks. */
const HEY_API = ['openapi-ts', '@hey-api/openapi-ts', 'typescript@~6.0'] as const;

const STRICT = ['--strict', '--noUncheckedIndexedAccess', '--skipLibCheck', 'false'];

const heyApi: Client = {
  name: '@hey-api/openapi-ts',
  needs: ['npm'],
  async install(folder) {
    await installNpm(folder, ...HEY_API);
  },
  async run(folder, target) {
    const file = await saveDescription(folder, target);
    const programs = await installNpm(folder, ...HEY_API);
    const work = join(folder, 'hey-api');
    await rm(work, { recursive: true, force: true });
    await mkdir(work);
    await writeFile(join(work, 'package.json'), '{"type":"commonjs"}');
    const generate = ['--input', file, '--output', join(work, 'generated'), '--no-log-file'];
    const generated = await runProgram(join(programs, 'openapi-ts'), generate, { cwd: work });
    const printed = generated.output + generated.errors;
    const steps = [judge('generate', findComplaints(printed, generated.code))];
    await writeFile(join(work, 'program.ts'), HEY_API_PROGRAM);
    const types = fileURLToPath(new URL('../../node_modules/@types', import.meta.url));
    const compiled = await runProgram(
      TYPESCRIPT,
      // prettier-ignore
      [...STRICT, '--target', 'es2022', '--module', 'preserve', '--moduleResolution', 'bundler', '--lib', 'es2023,dom,dom.iterable', '--types', 'node', '--typeRoots', types, '--noEmit', 'program.ts'],
      { cwd: work },
    );
    steps.push(judge('compile strictly', compiled.output + compiled.errors));
    const emit = ['--target', 'es2022', '--module', 'commonjs', '--ignoreDeprecations', '6.0'];
    await runProgram(
      TYPESCRIPT,
      [
        ...emit,
        '--moduleResolution',
        'node10',
        '--types',
        'node',
        '--typeRoots',
        types,
        'program.ts',
      ],
      { cwd: work },
    );
    return [...steps, ...(await runReporting('node', [join(work, 'program.js')], target))];
  },
};

const openapiPythonClient: Client = {
  name: 'openapi-python-client',
  needs: ['python3'],
  async install(folder) {
    await installPython(join(folder, 'generators'), ['openapi-python-client', 'ruff', 'mypy']);
  },
  async run(folder, target) {
    const file = await saveDescription(folder, target);
    const programs = join(folder, 'generators/bin');
    const work = join(folder, 'gateway_client');
    await rm(work, { recursive: true, force: true });
    const generate = ['generate', '--path', file, '--output-path', work, '--meta', 'none'];
    const { code, output, errors } = await runProgram(
      join(programs, 'openapi-python-client'),
      generate,
      { env: { PATH: `${programs}:${process.env.PATH}` } },
    );
    const steps = [judge('generate', findComplaints(output + errors, code))];
    const mypy = await runProgram(join(programs, 'python'), ['-m', 'mypy', '--strict', work]);
    // The generator's support file does not depend on the description and is not strict.
    const faults = mypy.output.split('\n').filter((line) => /: error:/.test(line));
    const ours = faults.filter((line) => !line.includes('/gateway_client/client.py:'));
    steps.push(judge('check strictly', endOf(ours.join('\n') || mypy.errors)));
    const env = { PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: '1' };
    const program = join(PROGRAMS, 'python/generated_client.py');
    const calls = await runReporting(join(programs, 'python'), [program], target, { env });
    return [...steps, ...calls];
  },
};

/** Returns a generator's complaints about operations and schemas that it could not handle. */
function findComplaints(printed: string, code: number | null): string {
  return code === 0 && !/warning|skipp|unsupported|unable|error/i.test(printed)
    ? ''
    : endOf(printed);
}

/**
 * Forwards requests to the gateway, each as if from a different address, since requests without a valid key
 * are limited per address.
 */
async function startForwarder(url: string): Promise<{ url: string; close(): void }> {
  const server = http.createServer((request, response) => {
    const headers = { ...request.headers, 'x-forwarded-for': nextAddress() };
    const onward = http.request(
      url + request.url,
      { method: request.method, headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    onward.once('error', () => response.destroy());
    request.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => void server.close() };
}

/**
 * Returns the description with untyped stream events. This tester expects a stream's schema to describe an
 * event with its `data` as text. test/e2e/stream-schemas.e2e-spec.ts checks the data.
 */
function withOpenEvents(description: string): string {
  return description.replaceAll(
    /("text\/event-stream":\{"schema":)\{"\$ref":"[^"]+"\}/g,
    '$1{"type":"object"}',
  );
}

const schemathesis: Client = {
  name: 'schemathesis',
  needs: ['python3'],
  async install(folder) {
    await installPython(join(folder, 'schemathesis'), ['schemathesis']);
  },
  async run(folder, target) {
    const forwarder = await startForwarder(target.url);
    const file = await saveDescription(folder, target);
    await writeFile(file, withOpenEvents(await readFile(file, 'utf8')));
    // All checks are enabled by default; naming them here would override the file.
    const config = ['--config-file', join(PROGRAMS, 'schemathesis.toml')];
    const run = ['run', file, '--url', forwarder.url, '--seed', '1', '--max-examples', '10'];
    const key = ['-H', `Authorization: Bearer ${target.apiKey}`];
    const { code, output, errors } = await runProgram(
      join(folder, 'schemathesis/bin/schemathesis'),
      [...config, ...run, '--no-color', ...key],
      { cwd: folder, limitMs: 900_000 },
    );
    forwarder.close();
    await writeFile(join(folder, 'schemathesis.txt'), output + errors);
    const summary = `${endOf(output + errors)}\n(all of it in ${join(folder, 'schemathesis.txt')})`;
    return [judge('every operation, all checks', code === 0 ? '' : summary)];
  },
};

/** Tools that read the OpenAPI description: a linter, client generators and a tester. */
export const DESCRIPTION_CLIENTS: readonly Client[] = [
  redocly,
  heyApi,
  openapiPythonClient,
  schemathesis,
];
