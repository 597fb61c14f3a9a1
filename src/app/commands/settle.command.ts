import { COMMAND_AUTHOR } from '../../core/access/author.js';
import {
  reportOf,
  type SettlementRecovery,
} from '../../core/ledger/settlement-recovery.service.js';
import { CommandError, type Command } from './command.js';

export const settleCommand: Command = {
  name: 'settle',
  summary:
    'Book the settlements that processes could not write before their end: those of a file, else of all in the data folder.',
  parameters: [],
  optionalParameter: 'file',
  options: {},
  async run({ parameters: [file] }, context) {
    const { recovery } = await context.services();
    const problems: string[] = [];
    let files = 0;
    for await (const report of file === undefined
      ? recovery.recoverAll(COMMAND_AUTHOR)
      : recoverFile(recovery, file)) {
      files++;
      if (report.done !== '') context.print(report.done);
      problems.push(...report.problems);
    }
    if (files === 0) context.print('Nothing is left to be booked in the data folder.');
    if (problems.length > 0) throw new CommandError(problems.join('\n'));
  },
};

async function* recoverFile(recovery: SettlementRecovery, file: string) {
  yield reportOf(file, await recovery.recover(file, COMMAND_AUTHOR));
}
