import { COMMAND_AUTHOR } from '../../core/access/author.js';
import {
  reportOf,
  type SettlementRecovery,
} from '../../core/ledger/settlement-recovery.service.js';
import { CommandError, type Command } from './command.js';

export const settleCommand: Command = {
  name: 'settle',
  summary:
    'Settle requests that processes could not write to the database before they ended, from a journal file or all journals in the data folder.',
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
    if (files === 0) context.print('There is nothing to settle in the data folder.');
    if (problems.length > 0) throw new CommandError(problems.join('\n'));
  },
};

async function* recoverFile(recovery: SettlementRecovery, file: string) {
  yield reportOf(file, await recovery.recover(file, COMMAND_AUTHOR));
}
