import { describeDamage } from '../../core/ledger/settlement-recovery.service.js';
import { CommandError, type Command } from './command.js';

export const settleCommand: Command = {
  name: 'settle',
  summary: 'Book the settlements that a process could not write before its end, from its file.',
  parameters: ['file'],
  options: {},
  async run({ parameters: [file = ''] }, context) {
    const { recovery } = await context.services();
    const { booked, known, refused, damagedLines, path } = await recovery.recover(file);
    context.print(`Booked ${booked} settlements; ${known} were booked before.`);
    context.print(path === undefined ? `Removed ${file}.` : `The file is kept: ${path}`);
    if (refused > 0) {
      throw new CommandError(`${refused} settlements are of no tenant in this database`);
    }
    if (damagedLines.length > 0) throw new CommandError(describeDamage(file, damagedLines));
  },
};
