import type { ParseArgsConfig } from 'node:util';
import type { AppConfig } from '../../platform/config/app-config.js';
import type { CommandServices } from './command-services.js';

/** What a command may use. Nothing is opened before it asks. */
export interface CommandContext {
  /** @throws ConfigError */
  config: () => AppConfig;
  /** Connects to the database at the first call; closed when the command has ended. */
  services(): Promise<CommandServices>;
  /** Writes a line to standard output. */
  print: (line: string) => void;
}

export interface CommandInput {
  /** As many as the command has `parameters`. */
  parameters: string[];
  options: Record<string, string | undefined>;
}

/** One of the operator's commands. */
export interface Command {
  /** The words that choose it, e.g. `tenant create`. */
  readonly name: string;
  readonly summary: string;
  /** Names of the values that follow the words, in order; all are required. */
  readonly parameters: readonly string[];
  /** Options with a value, each with the placeholder that the help shows for it. */
  readonly options: Readonly<Record<string, string>>;
  /** @throws UsageError, CommandError, ConfigError */
  run(input: CommandInput, context: CommandContext): Promise<void>;
}

/** For `parseArgs`: every option takes a value. */
export function parseArgsOptions(command: Command): NonNullable<ParseArgsConfig['options']> {
  const names = Object.keys(command.options);
  return {
    ...Object.fromEntries(names.map((name) => [name, { type: 'string' as const }])),
    help: { type: 'boolean', short: 'h' },
  };
}
