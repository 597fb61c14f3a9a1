import { loadCatalogue } from '../../core/catalogue/load-catalogue.js';
import { CommandError } from './command-error.js';
import type { Command } from './command.js';

export const catalogueCheckCommand: Command = {
  name: 'catalogue check',
  summary: 'Check the model catalogue, with GATEWAY_CATALOGUE merged over the built-in one.',
  parameters: [],
  options: {},
  async run(_, context) {
    const { models, problems } = loadCatalogue(context.config().catalogueFile);
    problems.forEach(context.print);
    if (problems.length > 0) {
      throw new CommandError(`${problems.length} of the catalogue's rows cannot be used`);
    }
    context.print(`The catalogue is complete: ${models.length} models.`);
  },
};
