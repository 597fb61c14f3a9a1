import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = (file) => fileURLToPath(new URL(file, import.meta.url));

/**
 * Other gateways from package registries. Each is installed at a fixed version. `serve` says how to
 * start it in a separate folder (`command`, `words`, `environment`) and how to call it (`path` of chat
 * completions, `headers`, `modelOf` a workload, `modelInAnswer`). bench/peers/README.md explains the
 * settings.
 */
export const PEERS = [
  {
    id: 'tensorzero',
    name: 'TensorZero',
    version: '2026.6.0',
    kind: 'python',
    packages: ['tensorzero==2026.6.0'],
    serve({ folder, upstreamUrl, models, python }) {
      const config = join(folder, 'tensorzero.toml');
      const tables = models.map(
        (model) =>
          `[models."${model}"]\nrouting = ["mock"]\n[models."${model}".providers.mock]\ntype = "openai"\n` +
          `model_name = "${model}"\napi_base = "${upstreamUrl}/v1/"\napi_key_location = "env::UPSTREAM_KEY"\n`,
      );
      writeFileSync(
        config,
        '[gateway]\nbind_address = "127.0.0.1:0"\nobservability.enabled = false\n' +
          `disable_pseudonymous_usage_analytics = true\n${tables.join('')}`,
      );
      const modelOf = ({ model }) => `tensorzero::model_name::${model}`;
      return {
        command: [python],
        words: [here('serve_tensorzero.py'), config],
        path: '/openai/v1/chat/completions',
        modelOf,
        modelInAnswer: modelOf,
      };
    },
  },
  {
    id: 'portkey',
    name: 'Portkey',
    version: '1.15.2',
    kind: 'node',
    // The version that Portkey is built and tested with; with the latest, every stream fails
    // ("TypeError: immutable", Portkey-AI/gateway issue 1389).
    packages: {
      dependencies: { '@portkey-ai/gateway': '1.15.2' },
      overrides: { '@hono/node-server': '1.13.5' },
    },
    serve: ({ upstreamUrl, modules }) => ({
      words: [
        '--import',
        here('loopback.mjs'),
        join(modules, '@portkey-ai/gateway/build/start-server.js'),
        '--port=0',
        '--headless',
      ],
      environment: { NODE_ENV: 'production' },
      path: '/v1/chat/completions',
      headers: {
        authorization: 'Bearer upstream-key',
        'x-portkey-provider': 'openai',
        'x-portkey-custom-host': `${upstreamUrl}/v1`,
      },
      modelOf: ({ model }) => model,
      modelInAnswer: ({ model }) => `${model}-2026-01-31`,
    }),
  },
  {
    id: 'litellm',
    name: 'LiteLLM',
    version: '1.106.0',
    kind: 'python',
    // The next release, 1.107.0, was compromised and withdrawn, so no version ranges here.
    packages: ['litellm[proxy]==1.106.0'],
    async serve({ folder, upstreamUrl, models, python }) {
      const config = join(folder, 'litellm.json');
      const rows = models.map((model) => ({
        model_name: model,
        litellm_params: {
          model: `openai/${model}`,
          api_base: `${upstreamUrl}/v1`,
          api_key: 'upstream-key',
        },
      }));
      // YAML is a superset of JSON.
      writeFileSync(
        config,
        JSON.stringify({
          model_list: rows,
          litellm_settings: { telemetry: false, num_retries: 0 },
          router_settings: { num_retries: 0 },
        }),
      );
      return {
        command: [python],
        words: [here('serve_litellm.py'), config, String(await freePort())],
        environment: {
          LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY: 'true',
          LITELLM_LOCAL_MODEL_COST_MAP: 'True',
          LITELLM_LOG: 'ERROR',
          DISABLE_ADMIN_UI: 'True',
        },
        path: '/v1/chat/completions',
        modelOf: ({ model }) => model,
        modelInAnswer: ({ model }) => model,
      };
    },
  },
];

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
