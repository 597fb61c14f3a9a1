import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { COMMAND_AUTHOR } from '../../core/access/author.js';
import { describeChange } from '../../core/configuration/config-diff.js';
import { shownDocument } from '../../core/configuration/config-document.js';
import type { ConfigVersion, WantedDocument } from '../../core/configuration/config-versions.js';
import { readJsonFile } from '../../platform/config/config-error.js';
import { codeOf, messageOf } from '../../platform/errors/thrown.js';
import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';
import { CommandError, readInteger, type Command } from './command.js';
import { formatTable } from '../../operator/format-table.js';

const MAX_NUMBER = 2 ** 31 - 1;
const MAX_LISTED = 1_000;
const LONGEST_COMMENT = 1_000;

/** Operators with access to the machine may name variables for keys, as in the startup file. */
const AS_COMMAND = { action: 'config.apply', mayNameVariables: true } as const;

export const configDiffCommand: Command = {
  name: 'config diff',
  summary:
    'Show the changes that a file or folder would make. Exit code 0: none, 1: some, 2: failure.',
  parameters: ['file'],
  options: {},
  async run({ parameters: [path = ''] }, context) {
    let changes: ConfigVersion['diff'];
    try {
      const value = readConfigFiles(path);
      const { configVersions } = await context.services();
      const options = { ...AS_COMMAND, isDryRun: true };
      const wanted = await configVersions.change(COMMAND_AUTHOR, () => ({ value }), options);
      changes = wanted.isNew ? wanted.version.diff : [];
    } catch (error) {
      throw new CommandError(messageOf(error), 2);
    }
    changes.map(describeChange).forEach(context.print);
    return changes.length === 0 ? 0 : 1;
  },
};

export const configApplyCommand: Command = {
  name: 'config apply',
  summary:
    'Make a file or folder the whole configuration: anything not in it is removed. Applying the same content again changes nothing.',
  parameters: ['file'],
  options: { comment: 'text', expect: 'version' },
  async run({ parameters: [path = ''], options }, context) {
    const value = readConfigFiles(path);
    const { configVersions } = await context.services();
    const { version, isNew } = await configVersions.change(COMMAND_AUTHOR, () => ({ value }), {
      ...AS_COMMAND,
      ...readOptions(options),
    });
    report({ version, isNew }, context.print);
  },
};

export const configShowCommand: Command = {
  name: 'config show',
  summary:
    'Print a version of the configuration as a file that can be applied; by default the latest.',
  parameters: [],
  optionalParameter: 'version',
  options: {},
  async run({ parameters: [text] }, context) {
    const number = text === undefined ? undefined : readInteger('[version]', text, 1, MAX_NUMBER);
    const { configVersions } = await context.services();
    const version =
      number === undefined ? await latest(configVersions) : await configVersions.find(number);
    context.printText(JSON.stringify(shownDocument(version.document), null, 2));
  },
};

export const configVersionsCommand: Command = {
  name: 'config versions',
  summary: 'List the versions of the configuration, latest first.',
  parameters: [],
  options: {},
  async run(_, context) {
    const { configVersions } = await context.services();
    const rows = (await configVersions.list(MAX_LISTED)).map((version) => [
      String(version.number),
      version.createdAt.toISOString(),
      version.fingerprint,
      String(version.diff.length),
      version.actor.name,
      version.comment ?? '',
    ]);
    const heading = ['VERSION', 'CREATED', 'FINGERPRINT', 'CHANGES', 'BY', 'COMMENT'];
    formatTable([heading, ...rows]).forEach(context.print);
  },
};

export const configRollbackCommand: Command = {
  name: 'config rollback',
  summary: 'Restore an earlier version of the configuration, as a new version.',
  parameters: ['version'],
  options: { comment: 'text', expect: 'version' },
  async run({ parameters: [text = ''], options }, context) {
    const number = readInteger('<version>', text, 1, MAX_NUMBER);
    const { configVersions } = await context.services();
    const target = await configVersions.find(number);
    const wanted: WantedDocument = {
      value: shownDocument(target.document),
      keysOf: target.document,
    };
    const { comment = `Back to version ${number}`, ...others } = readOptions(options);
    const done = await configVersions.change(COMMAND_AUTHOR, () => wanted, {
      action: 'config.rollback',
      mayNameVariables: true,
      comment,
      ...others,
    });
    report(done, context.print);
  },
};

async function latest(versions: { list(limit: number): Promise<ConfigVersion[]> }) {
  const [version] = await versions.list(1);
  if (version) return version;
  throw new CommandError('there is no configuration version yet; the first start creates one');
}

function readOptions({ comment, expect }: Record<string, string | undefined>) {
  if (comment !== undefined && (comment === '' || comment.length > LONGEST_COMMENT)) {
    throw new CommandError(`--comment must have 1 to ${LONGEST_COMMENT} characters`);
  }
  return {
    ...(comment !== undefined && { comment }),
    ...(expect !== undefined && { expect: readInteger('--expect', expect, 0, MAX_NUMBER) }),
  };
}

function report(
  { version, isNew }: { version: ConfigVersion; isNew: boolean },
  print: (line: string) => void,
): void {
  if (isNew) version.diff.map(describeChange).forEach(print);
  print(
    isNew
      ? `Version ${version.number} of the configuration is in force (fingerprint ${version.fingerprint}).`
      : `Nothing differs; version ${version.number} stays in force.`,
  );
}

/**
 * Reads a file, or all `.json` files of a folder: `{models, providers, settings}`, or a list of
 * catalogue rows or providers as in `GATEWAY_CATALOGUE` and `GATEWAY_PROVIDERS`.
 *
 * @throws CommandError
 */
function readConfigFiles(path: string): JsonObject {
  const whole: { models: unknown[]; providers: unknown[]; settings: JsonObject } = {
    models: [],
    providers: [],
    settings: {},
  };
  for (const file of filesOf(path)) {
    const { models, providers, settings = {}, ...others } = partsOf(file);
    const unknown = Object.keys(others)[0];
    if (unknown !== undefined) {
      throw new CommandError(
        `${file} has the unknown field ${unknown}; use models, providers and settings`,
      );
    }
    for (const [name, rows] of [
      ['models', models],
      ['providers', providers],
    ] as const) {
      if (rows === undefined) continue;
      if (!Array.isArray(rows)) throw new CommandError(`${file}: ${name} must be a list`);
      whole[name].push(...rows.map((row: unknown) => row));
    }
    if (!isJsonObject(settings)) throw new CommandError(`${file}: settings must be an object`);
    for (const [name, value] of Object.entries(settings)) {
      if (name in whole.settings) throw new CommandError(`${file} sets ${name} a second time`);
      whole.settings[name] = value;
    }
  }
  return whole;
}

/** An empty folder is an error rather than an empty configuration. */
function filesOf(path: string): string[] {
  try {
    if (!statSync(path).isDirectory()) return [path];
    const names = readdirSync(path).filter((name) => name.endsWith('.json'));
    if (names.length > 0) return names.sort().map((name) => join(path, name));
  } catch (error) {
    throw new CommandError(`${path} cannot be read (${codeOf(error) ?? 'unknown error'})`);
  }
  throw new CommandError(`${path} has no .json files`);
}

function partsOf(file: string): JsonObject {
  let content: unknown;
  try {
    content = readJsonFile(file);
  } catch (error) {
    throw new CommandError(`${file} ${messageOf(error)}`);
  }
  if (isJsonObject(content)) return content;
  if (!Array.isArray(content)) throw new CommandError(`${file} must contain an object or a list`);
  const areProviders = content.some(
    (row: unknown) => isJsonObject(row) && ('base_url' in row || 'accounts' in row),
  );
  return areProviders ? { providers: content } : { models: content };
}
