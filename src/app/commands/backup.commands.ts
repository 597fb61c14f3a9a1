import { CommandError, UsageError, type Command } from './command.js';

export const backupCommand: Command = {
  name: 'backup',
  summary:
    'Write the database and the artifacts of the data folder to a file ("-": standard output); the service may be running.',
  parameters: ['file'],
  options: {},
  flags: ['without-artifacts'],
  async run({ parameters: [file = ''], flags }, { config, print, note }) {
    const settings = config();
    const { backUp } = await import('../../operator/backup/operator-backups.js');
    const withArtifacts = !flags.has('without-artifacts');
    const lines = await backUp(file, { config: settings, log: note, withArtifacts });
    lines.forEach(file === '-' ? note : print);
  },
};

export const restoreCommand: Command = {
  name: 'restore',
  summary:
    'Restore a backup ("-": standard input) into an empty database, or with --replace over existing data; the service must be stopped.',
  parameters: ['file'],
  options: {},
  flags: ['replace', 'other-secret'],
  async run({ parameters: [file = ''], flags }, { config, print, note }) {
    const settings = config();
    const { restore } = await import('../../operator/backup/operator-backups.js');
    const lines = await restore(file, {
      config: settings,
      log: note,
      replaces: flags.has('replace'),
      takesOtherSecret: flags.has('other-secret'),
    });
    lines.forEach(print);
  },
};

export const moveCommand: Command = {
  name: 'move',
  summary:
    'Move the embedded database to the server of a postgres:// URL, or, with "embedded", to the installed version of PostgreSQL.',
  parameters: ['to'],
  options: { binaries: 'FOLDER' },
  flags: ['replace'],
  async run({ parameters: [to = ''], options, flags }, { config, print, note }) {
    if (to !== 'embedded' && !/^postgres(ql)?:\/\/./.test(to)) {
      throw new UsageError('<to> must be a URL that begins with postgres://, or the word embedded');
    }
    const settings = config();
    if (settings.databaseUrl !== undefined) {
      throw new CommandError(
        'DATABASE_URL is set, so no embedded database is in use: move the data of a server with "backup" and "restore"',
      );
    }
    const { move } = await import('../../operator/backup/operator-backups.js');
    const { binaries } = options;
    const replaces = flags.has('replace');
    const lines = await move(to, { config: settings, log: note, binaries, replaces });
    lines.forEach(print);
  },
};
