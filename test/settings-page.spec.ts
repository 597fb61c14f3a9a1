import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { format, type FormatConfig } from 'oxfmt';
import { loadSettings } from '../src/app/load-settings.js';
import {
  renderSettingsPage,
  renderVendorTable,
} from '../src/app/commands/settings-page.command.js';
import {
  describeVariables,
  type DescribedVariable,
} from '../src/platform/config/variable.decorators.js';
import type { AppConfig } from '../src/platform/config/app-config.js';
import { EnvDto } from '../src/platform/config/env.dto.js';
import { LimitsEnv } from '../src/platform/config/limits-env.js';
import { PeopleEnv } from '../src/platform/config/people-env.js';
import { TelemetryEnv } from '../src/platform/config/read-telemetry.js';
import { S3Env } from '../src/platform/config/s3-settings.js';
import { VENDORS } from '../src/vendors/vendors.js';
import { imaginary } from './support/imaginary-vendor/imaginary.vendor.js';

const PAGE = 'docs/settings.md';
const OPTIONS = JSON.parse(readFileSync('.oxfmtrc.json', 'utf8')) as FormatConfig;
const VARIABLES: DescribedVariable[] = [EnvDto, LimitsEnv, PeopleEnv, S3Env, TelemetryEnv]
  .concat(VENDORS.flatMap(({ Variables }) => Variables ?? []))
  .flatMap((Variables) => describeVariables(Variables));

describe('the settings page', () => {
  it('matches the code; npm run docs:settings updates it', async () => {
    const made = await format(PAGE, renderSettingsPage(VENDORS), OPTIONS);
    expect(readFileSync(PAGE, 'utf8')).toBe(made.code);
  });

  it('lists the vendors of README.md, whose table comes from renderVendorTable', async () => {
    const made = await format('README.md', renderVendorTable(VENDORS), OPTIONS);
    expect(readFileSync('README.md', 'utf8')).toContain(made.code);
  });

  it('includes a vendor as soon as the list does', () => {
    const page = renderSettingsPage([imaginary]);
    expect(page).toContain('| `IMAGINARY_DISTRICT` |');
    expect(page).toContain('Provider `imaginary`. Kinds of models: chat.');
    expect(page).not.toContain('OPENAI_API_KEY');
  });
});

describe('a secret', () => {
  const secrets = VARIABLES.filter(({ isSecret }) => isSecret).map(({ name }) => name);

  it('is every variable whose name suggests one', () => {
    const matching =
      /((?<!PER)_KEY|_TOKEN|_SECRET|_PREVIOUS|_HEADERS|PASSWORD)$|^(DATABASE|REDIS)_URL$/;
    const alike = VARIABLES.map(({ name }) => name).filter((name) => matching.test(name));
    expect(secrets).toEqual(alike);
    expect(secrets.length).toBeGreaterThan(15);
  });

  it.each(secrets.filter((name) => name !== 'GATEWAY_SECRET'))('%s may be in a file', (name) => {
    expect(() => loadSettings({ [`${name}_FILE`]: '/nowhere' })).toThrow(
      `${name}_FILE names a file that cannot be read (ENOENT)`,
    );
    expect(readFileSync(PAGE, 'utf8')).toContain(`| \`${name}\`, \`${name}_FILE\` `);
  });
});

describe('a described variable', () => {
  /** Variables without a default, which others need to take effect. */
  const others = Object.fromEntries(
    VARIABLES.filter((one) => one.default === undefined && !namesFile(one)).map((one) => [
      one.name,
      one.example,
    ]),
  );
  const sampler = { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.5' };
  const settingsWith = (name: string, value: string): Omit<AppConfig, 'declared'> => {
    // `declared` lists the set variables, which differs by design.
    const { declared: _, ...settings } = loadSettings({ ...others, ...sampler, [name]: value });
    return settings;
  };
  let plain: Omit<AppConfig, 'declared'> | undefined;
  /** The settings for most variables: one with a default is not set here, so this is read only once. */
  const settingsWithout = (name: string): Omit<AppConfig, 'declared'> =>
    name in sampler ? settingsWith(name, '') : (plain ??= settingsWith(name, ''));

  it('is described once', () => {
    const names = VARIABLES.map(({ name }) => name);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    expect(VARIABLES.length).toBeGreaterThan(60);
  });

  // Those with a default are tested below.
  it('accepts its example if it has no default', () => {
    expect(Object.keys(others).length).toBeGreaterThan(40);
    expect(() => loadSettings(others)).not.toThrow();
  });

  it.each(VARIABLES.filter((one) => one.default !== undefined))(
    '$name defaults to $default',
    ({ name, default: value }) => {
      expect(settingsWith(name, value!)).toEqual(settingsWithout(name));
    },
  );

  it.each(VARIABLES.filter(({ default: value, example }) => value !== example && value))(
    '$name changes with its example',
    ({ name, example }) => {
      expect(settingsWith(name, example)).not.toEqual(settingsWithout(name));
    },
  );
});

/** Returns whether a variable names a file that would have to exist. */
function namesFile({ rule }: DescribedVariable): boolean {
  return rule?.includes('existing file') === true;
}
