import { COMMAND_AUTHOR } from '../../core/access/author.js';
import { SigningKeys } from '../../core/ledger/receipts/signing-keys.service.js';
import type { Command } from './command.js';

export const receiptsRotateKeyCommand: Command = {
  name: 'receipts rotate-key',
  summary: 'Sign receipts with a new key from now on; earlier receipts stay verifiable.',
  parameters: [],
  options: {},
  async run(_, context) {
    const { database, audit } = await context.services();
    const keys = new SigningKeys(context.config(), database, audit);
    const { id, previousId } = await keys.rotate(COMMAND_AUTHOR);
    context.print(`Receipts are now signed with the key ${id}.`);
    if (previousId === undefined) return;
    context.print(
      `The private key of ${previousId} was deleted; its public key stays in /.well-known/jwks.json.`,
    );
  },
};
