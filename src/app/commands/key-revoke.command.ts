import { CommandError } from './command-error.js';
import type { Command } from './command.js';
import { readUuid } from './read-arguments.js';

export const keyRevokeCommand: Command = {
  name: 'key revoke',
  summary: 'Revoke an API key; running instances refuse it within a second.',
  parameters: ['key-id'],
  options: {},
  async run({ parameters }, context) {
    const id = readUuid('<key-id>', parameters[0]!);
    const { apiKeys } = await context.services();
    if (!(await apiKeys.revokeById(id))) throw new CommandError(`there is no key with id ${id}`);
    context.print(`Revoked the key ${id}.`);
  },
};
