import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { ConfigError } from '../../platform/config/config-error.js';
import { runCommand } from './run-command.js';

describe(runCommand.name, () => {
  it.each([['--help'], ['-h'], ['key', '--help']])(
    'shows all commands for %s',
    async (...words) => {
      const { code, output, errors } = await run(...words);
      expect([code, errors]).toEqual([0, '']);
      for (const command of [
        'tenant create <name> [--credits N]',
        'tenant list',
        'tenant grant <name> <credits> [--memo TEXT]',
        'tenant limit <name> <credits>',
        'key create <tenant> [--type routing|management] [--name NAME] [--rate-limit N] [--monthly-spend-limit CREDITS] [--expires ISO-TIME]',
        'key revoke <key-id>',
        'catalogue check',
        'catalogue update <file|url> [--write FILE] [--accept MODEL[:UNIT]|all]… [--add PATTERN]… [--apply] [--in-force]',
        'catalogue stale [--days N] [--in-force]',
        'backup <file> [--without-artifacts]',
        'restore <file> [--replace] [--other-secret]',
        'move <to> [--binaries FOLDER] [--replace]',
      ]) {
        expect(output).toContain(`  ${command}\n`);
      }
    },
  );

  it('shows one command for its own --help', async () => {
    const { code, output } = await run('key', 'create', '--help');
    expect(code).toBe(0);
    expect(output).toContain('key create <tenant>');
    expect(output).not.toContain('tenant list');
  });

  it('shows all commands as an error when none is given', async () => {
    const { code, output } = await run();
    expect(code).toBe(2);
    expect(output).toContain('tenant list');
  });

  it.each([
    ['tenant'],
    ['tenant', 'banish', 'acme'],
    ['tenants', 'list'],
    ['tenant', 'create'],
    ['tenant', 'create', 'one', 'two'],
    ['tenant', 'create', ''],
    ['tenant', 'create', 'acme', '--credits'],
    ['tenant', 'create', 'acme', '--credits', '-5'],
    ['tenant', 'create', 'acme', '--credits', '1.5'],
    ['tenant', 'create', 'acme', '--credits', '1000000000000001'],
    ['tenant', 'create', 'acme', '--budget', '5'],
    ['tenant', 'list', 'acme'],
    ['tenant', 'grant', 'acme'],
    ['tenant', 'grant', 'acme', '0'],
    ['tenant', 'grant', 'acme', 'ten'],
    ['tenant', 'limit', 'acme'],
    ['tenant', 'limit', 'acme', '-1'],
    ['tenant', 'limit', 'acme', 'None'],
    ['tenant', 'limit', 'acme', '9007199254740992'],
    ['key', 'create'],
    ['key', 'create', 'acme', '--type', 'admin'],
    ['key', 'create', 'acme', '--rate-limit', '0'],
    ['key', 'create', 'acme', '--expires', '2020-01-01'],
    ['key', 'create', 'acme', '--expires', 'tomorrow'],
    ['key', 'create', 'acme', '--name', ''],
    ['key', 'revoke'],
    ['key', 'revoke', 'not-a-uuid'],
    ['catalogue', 'check', 'now'],
    ['backup'],
    ['backup', 'one', 'two'],
    ['backup', 'file', '--replace'],
    ['restore'],
    ['restore', 'file', '--other-secret=mine'],
    ['move'],
    ['move', 'mysql://db/gateway'],
    ['move', 'postgres://'],
  ])('exits with 2 and prints one line for: %s %s %s %s %s', async (...words) => {
    const { code, output, errors } = await run(...words);
    expect([code, output]).toEqual([2, '']);
    expect(errors.trimEnd().split('\n')).toHaveLength(1);
    expect(errors).toContain('--help');
  });

  it('exits with 1 and the problem of an invalid configuration', async () => {
    expect(await run('tenant', 'list')).toEqual({
      code: 1,
      output: '',
      errors: 'PORT must be right\n',
    });
  });

  it('escapes control characters in errors', async () => {
    const { errors } = await run('key\u009b2J\u202E', 'x');
    expect(errors).toContain('"key\\u009b2J\\u202e x"');
  });

  it.each(['\u212Aate@acme.example', 'kate@\u0430cme.example', 'ka\u200Bte@acme.example', 'kate'])(
    'rejects an invitation to %j',
    async (email) => {
      const { code, errors } = await run('person', 'invite', email, 'owner');
      expect([code, errors]).toEqual([2, expect.stringContaining('e-mail address in ASCII')]);
    },
  );
});

/** Uses an invalid configuration, so that no command gets past a usage error. */
async function run(...words: string[]) {
  let output = '';
  let errors = '';
  const code = await runCommand(words, {
    loadConfig: () => {
      throw new ConfigError(['PORT must be right']);
    },
    print: (line) => (output += `${line}\n`),
    printError: (line) => (errors += `${line}\n`),
  });
  return { code, output, errors };
}
