import { apiKeyStatus } from '../../core/access/api-key.entity.js';
import { COMMAND_AUTHOR } from '../../core/access/author.js';
import { OPERATOR_ROLES, type OperatorRole } from '../../core/access/roles.js';
import {
  CommandError,
  UsageError,
  readFutureTime,
  readName,
  readUuid,
  type Command,
} from './command.js';
import { formatTable } from '../../operator/format-table.js';

/** Upper limit of the listing, beyond any real number of keys. */
const MAX_LISTED = 1_000;

export const adminCreateCommand: Command = {
  name: 'admin create',
  summary: 'Create an admin key and print it, once; role auditor is read-only.',
  parameters: ['name'],
  options: { role: OPERATOR_ROLES.join('|'), expires: 'ISO-TIME' },
  async run({ parameters, options }, context) {
    const name = readName('<name>', parameters[0]!);
    const role = readRole(options.role ?? 'admin');
    const expiresAt =
      options.expires === undefined ? null : readFutureTime('--expires', options.expires);
    const { adminKeys } = await context.services();
    const key = await adminKeys.create(COMMAND_AUTHOR, { name, role, expiresAt });
    context.print(`Created an admin key with the role ${role}.`);
    context.print(`Id:      ${key.id}`);
    context.print(`Expires: ${expiresAt?.toISOString() ?? 'never'}`);
    context.print('The key is shown this once and not stored:');
    context.print(key.plaintext);
  },
};

export const adminListCommand: Command = {
  name: 'admin list',
  summary: 'List admin keys, newest first.',
  parameters: [],
  options: {},
  async run(_, context) {
    const { adminKeyRows } = await context.services();
    const rows = (await adminKeyRows.page(MAX_LISTED)).map((key) => [
      key.id,
      key.keyPreview,
      key.role,
      apiKeyStatus(key, Date.now()),
      key.lastUsedAt?.toISOString() ?? 'never',
      key.createdAt.toISOString(),
      JSON.stringify(key.name),
    ]);
    const heading = ['ID', 'KEY', 'ROLE', 'STATUS', 'LAST USED', 'CREATED', 'NAME'];
    formatTable([heading, ...rows]).forEach(context.print);
  },
};

export const adminRevokeCommand: Command = {
  name: 'admin revoke',
  summary: 'Revoke an admin key, even the last one; running instances reject it within a second.',
  parameters: ['key-id'],
  options: {},
  async run({ parameters }, context) {
    const id = readUuid('<key-id>', parameters[0]!);
    const { adminKeys } = await context.services();
    if (!(await adminKeys.revoke(COMMAND_AUTHOR, id, true))) {
      throw new CommandError(`there is no admin key with id ${id}`);
    }
    context.print(`Revoked the admin key ${id}.`);
  },
};

function readRole(text: string): OperatorRole {
  const role = OPERATOR_ROLES.find((candidate) => candidate === text);
  if (role) return role;
  throw new UsageError(`--role must be ${OPERATOR_ROLES.join(' or ')}`);
}
