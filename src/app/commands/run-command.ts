import { parseArgs } from 'node:util';
import type { AppConfig } from '../../platform/config/app-config.js';
import type { CommandServices } from './command-services.js';
import {
  parseArgsOptions,
  type Command,
  type CommandContext,
  UsageError,
  CommandError,
} from './command.js';
import { adminCreateCommand, adminListCommand, adminRevokeCommand } from './admin.commands.js';
import { backupCommand, moveCommand, restoreCommand } from './backup.commands.js';
import {
  catalogueCheckCommand,
  catalogueStaleCommand,
  catalogueUpdateCommand,
} from './catalogue.commands.js';
import {
  configApplyCommand,
  configDiffCommand,
  configRollbackCommand,
  configShowCommand,
  configVersionsCommand,
} from './config.commands.js';
import { keyCreateCommand, keyRevokeCommand } from './key.commands.js';
import { providersCheckCommand } from './providers.commands.js';
import { replayCommand } from './replay.command.js';
import { receiptsRotateKeyCommand } from './receipts.commands.js';
import { loginLinkCommand, personInviteCommand } from './people.commands.js';
import { settingsPageCommand } from './settings-page.command.js';
import { secretRotateCommand } from './secret-rotate.command.js';
import { settleCommand } from './settle.command.js';
import {
  tenantCreateCommand,
  tenantListCommand,
  tenantCorrectCommand,
  tenantDeleteCommand,
  tenantGrantCommand,
  tenantLimitCommand,
  tenantResumeCommand,
  tenantSuspendCommand,
} from './tenant.commands.js';
import { escapeControls, escapeControlsOfLines } from '../../platform/text/one-line.js';
import { messageOf } from '../../platform/errors/thrown.js';

const openApiCommand: Command = {
  name: 'openapi',
  summary:
    'Print the OpenAPI 3.1 description of the API, as served at /docs-json; the service need not run.',
  parameters: [],
  options: {},
  async run(_, context) {
    // Imported on demand because it loads the whole application.
    const { describeWithoutService } = await import('../openapi.js');
    context.print(JSON.stringify(await describeWithoutService()));
  },
};

const COMMANDS: readonly Command[] = [
  tenantCreateCommand,
  tenantListCommand,
  tenantGrantCommand,
  tenantCorrectCommand,
  tenantLimitCommand,
  tenantSuspendCommand,
  tenantResumeCommand,
  tenantDeleteCommand,
  keyCreateCommand,
  keyRevokeCommand,
  adminCreateCommand,
  adminListCommand,
  adminRevokeCommand,
  personInviteCommand,
  loginLinkCommand,
  secretRotateCommand,
  configDiffCommand,
  configApplyCommand,
  configShowCommand,
  configVersionsCommand,
  configRollbackCommand,
  catalogueCheckCommand,
  catalogueUpdateCommand,
  catalogueStaleCommand,
  providersCheckCommand,
  openApiCommand,
  settingsPageCommand,
  settleCommand,
  replayCommand,
  backupCommand,
  restoreCommand,
  moveCommand,
  receiptsRotateKeyCommand,
];

/** Names of commands in earlier releases. */
const FORMER_NAMES: Readonly<Record<string, string>> = { rehearse: 'replay' };

interface CommandEnvironment {
  /** @throws ConfigError */
  loadConfig: () => AppConfig;
  print: (line: string) => void;
  printError: (line: string) => void;
  /** See `CommandContext`. Undefined in a process that does other work. */
  yieldToOthers?: () => void;
}

/**
 * Runs an operator command.
 *
 * @param words arguments after the program's name
 * @returns the exit code: 0 success, 1 failure, 2 usage error
 */
export async function runCommand(
  words: readonly string[],
  environment: CommandEnvironment,
): Promise<0 | 1 | 2> {
  try {
    return (await execute(words, environment)) ?? 0;
  } catch (error) {
    if (error instanceof UsageError) {
      environment.printError(escapeControls(`${error.message} (see npm run gateway -- --help)`));
      return 2;
    }
    // Configuration errors have one line per variable.
    environment.printError(escapeControlsOfLines(explain(error)));
    return error instanceof CommandError ? error.exitCode : 1;
  }
}

async function execute(
  typed: readonly string[],
  environment: CommandEnvironment,
): Promise<0 | 1 | void> {
  const [first = '', ...others] = typed;
  const words = typed.length === 0 ? typed : [FORMER_NAMES[first] ?? first, ...others];
  const command = COMMANDS.find(({ name }) => words.slice(0, wordsIn(name)).join(' ') === name);
  if (!command) {
    if (words.length > 0 && !words.some((word) => word === '--help' || word === '-h')) {
      throw new UsageError(`Unknown command ${JSON.stringify(words.slice(0, 2).join(' '))}`);
    }
    help(COMMANDS).forEach(environment.print);
    if (words.length === 0) throw new UsageError('A command is required');
    return;
  }
  const { values, positionals } = parse(command, words.slice(wordsIn(command.name)));
  if (values.help === true) {
    help([command]).forEach(environment.print);
    return;
  }
  const most = command.parameters.length + Number(command.optionalParameter !== undefined);
  if (positionals.length < command.parameters.length || positionals.length > most) {
    throw new UsageError(`Usage: ${usage(command)}`);
  }
  const context = openContext(environment);
  try {
    const flags = new Set(command.flags?.filter((flag) => values[flag] === true));
    const lists = listsOf(values);
    const input = { parameters: positionals, options: textsOf(values), flags, lists };
    return await command.run(input, context);
  } finally {
    await context.close();
  }
}

function wordsIn(name: string): number {
  return name.split(' ').length;
}

function listsOf(values: Readonly<Record<string, unknown>>): Record<string, string[]> {
  const lists: Record<string, string[]> = {};
  for (const [name, value] of Object.entries(values)) {
    if (Array.isArray(value)) lists[name] = value.map(String);
  }
  return lists;
}

/** Returns the options with a value. */
function textsOf(values: Readonly<Record<string, unknown>>): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [name, value] of Object.entries(values)) {
    if (typeof value === 'string') texts[name] = value;
  }
  return texts;
}

function parse(command: Command, words: readonly string[]) {
  try {
    const options = parseArgsOptions(command);
    return parseArgs({ args: [...words], options, allowPositionals: true, strict: true });
  } catch (error) {
    const [firstSentence] = messageOf(error).split(/\.(?:\s|$)/, 1);
    throw new UsageError(`${firstSentence}. Usage: ${usage(command)}`);
  }
}

function openContext(environment: CommandEnvironment): CommandContext & { close(): Promise<void> } {
  let services: Promise<CommandServices> | undefined;
  return {
    config: environment.loadConfig,
    services: () => (services ??= openServices(environment)),
    print: (line) => environment.print(escapeControls(line)),
    printText: (text) => environment.print(escapeControlsOfLines(text)),
    note: (line) => environment.printError(escapeControls(line)),
    yieldToOthers: environment.yieldToOthers ?? (() => undefined),
    async close() {
      // If opening failed, the command has already failed with the reason.
      const opened = await services?.catch(() => undefined);
      await opened?.close();
    },
  };
}

/** Imports on demand, because TypeORM takes longer to load than most commands take to run. */
async function openServices({
  loadConfig,
  printError,
}: CommandEnvironment): Promise<CommandServices> {
  const config = loadConfig();
  const { openCommandServices } = await import('./command-services.js');
  return openCommandServices(config, printError);
}

function usage(command: Command): string {
  const parameters = command.parameters.map((name) => `<${name}>`);
  if (command.optionalParameter !== undefined) parameters.push(`[${command.optionalParameter}]`);
  const options = Object.entries(command.options).map(([name, value]) => `[--${name} ${value}]`);
  const flags = command.flags?.map((flag) => `[--${flag}]`) ?? [];
  const lists = Object.entries(command.lists ?? {}).map(([name, value]) => `[--${name} ${value}]…`);
  return [command.name, ...parameters, ...options, ...lists, ...flags].join(' ');
}

function help(commands: readonly Command[]): string[] {
  return [
    'npm run gateway -- <command>',
    '',
    ...commands.flatMap((command) => [`  ${usage(command)}`, `      ${command.summary}`]),
  ];
}

/** A connection that fails on several addresses throws an AggregateError with an empty message. */
function explain(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') {
    return explain(error.errors[0]);
  }
  if (!(error instanceof Error)) return String(error);
  return error.message || error.name;
}
