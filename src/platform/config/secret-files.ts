import { readFileSync } from 'node:fs';
import { codeOf } from '../errors/thrown.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** Its file may also hold previous secrets and is read again when it changes: `gateway-secret.ts`. */
const READ_AT_EACH_USE = 'GATEWAY_SECRET';

/**
 * Returns the environment with the contents of files named by `<name>_FILE` for each secret. Adds faults to `problems`
 * by variable, without the path, which may be the secret by mistake, or the content.
 */
export function withSecretFiles(
  environment: Environment,
  names: readonly string[],
  problems: string[],
): Record<string, string | undefined> {
  const read = { ...environment };
  for (const name of names) {
    try {
      read[name] = readSecret(environment, name);
    } catch (error) {
      problems.push((error as Error).message);
    }
    if (read[name] === undefined) delete read[name];
  }
  return read;
}

/**
 * Returns a secret from its variable, or from the file named by `<name>_FILE` without trailing line breaks.
 *
 * @throws Error that names the invalid variable
 */
export function readSecret(environment: Environment, name: string): string | undefined {
  const fileVariable = `${name}_FILE`;
  const path = environment[fileVariable];
  if (!path) return environment[name];
  if (environment[name]) {
    throw new Error(`${name} and ${fileVariable} must not both be set; leave one of them out`);
  }
  if (name === READ_AT_EACH_USE) return undefined;
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const code = codeOf(error) ?? 'unknown error';
    throw new Error(`${fileVariable} names a file that cannot be read (${code})`, { cause: error });
  }
  const secret = text.replace(/[\r\n]+$/, '');
  if (secret === '') throw new Error(`${fileVariable} names an empty file`);
  return secret;
}
