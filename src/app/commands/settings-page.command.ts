import {
  describeVariables,
  type DescribedVariable,
} from '../../platform/config/variable.decorators.js';
import { EnvDto } from '../../platform/config/env.dto.js';
import { LimitsEnv } from '../../platform/config/limits-env.js';
import { PeopleEnv } from '../../platform/config/people-env.js';
import { TelemetryEnv } from '../../platform/config/read-telemetry.js';
import { S3Env } from '../../platform/config/s3-settings.js';
import type { Vendor, ByokAccountForm } from '../../vendors/vendor.js';
import { VENDORS } from '../../vendors/vendors.js';
import type { Command } from './command.js';

export const settingsPageCommand: Command = {
  name: 'settings page',
  summary: 'Print every setting, as docs/settings.md has them.',
  parameters: [],
  options: {},
  async run(_, context) {
    context.print(renderSettingsPage(VENDORS));
  },
};

/** Markdown with every variable of the service and of these vendors, by their own descriptions. */
export function renderSettingsPage(vendors: readonly Vendor[]): string {
  return [
    '# Settings',
    '<!-- Made by `npm run docs:settings` of the descriptions in the code; change them there. -->',
    'Settings are environment variables, read once at the start. A bad value stops the start with a line that names it. An empty variable counts as unset.',
    'Each secret can be given as a file instead, as Docker and Kubernetes mount them: `<NAME>_FILE` is the path of a file with the value; line breaks at its end do not count. To set both is an error. Such files are read at the start; only that of `GATEWAY_SECRET` is read again when it changes.',
    'Those with ↻ may also be set in the [configuration](configuration.md), which changes while the service runs; a variable that is set comes before it.',
    '## The service',
    tableOf(EnvDto),
    '## Limits',
    'How long, how many and how much.',
    tableOf(LimitsEnv),
    '## People',
    'How people log in: see [people.md](people.md).',
    tableOf(PeopleEnv),
    '## Artifacts in a bucket',
    tableOf(S3Env),
    '## Vendors',
    'A vendor is configured when its account is there. Tenants may store accounts of their own with every vendor but the sandbox, configured or not: see [byok.md](byok.md).',
    ...vendors.flatMap(vendorSection),
    "## The service's own traces and metrics",
    'The standard variables of OpenTelemetry: see [broadcast.md](broadcast.md).',
    tableOf(TelemetryEnv),
  ].join('\n\n');
}

/** Markdown of which vendors there are, what configures each, and what it offers. */
export function renderVendorTable(vendors: readonly Vendor[]): string {
  const rows = vendors.flatMap(({ id, name, kinds, Variables }) => {
    const [first] = Variables ? describeVariables(Variables) : [];
    return first ? [`| ${name} | \`${id}/\` | \`${first.name}\` | ${kinds.join(', ')} |`] : [];
  });
  return ['| vendor | models | configured by | kinds |', '| --- | --- | --- | --- |', ...rows].join(
    '\n',
  );
}

function vendorSection({ id, name, kinds, Variables, accountForm }: Vendor): string[] {
  return [
    `### ${name}`,
    `Provider \`${id}\`. Kinds of models: ${kinds.join(', ')}.`,
    ...(Variables ? [tableOf(Variables)] : []),
    ...(accountForm ? [formLine(accountForm)] : []),
  ];
}

function formLine({ keyDescription, settings }: ByokAccountForm): string {
  const fields = Object.entries(settings).map(
    ([name, { isRequired, description }]) =>
      ` \`settings.${name}\`${isRequired ? '' : ' (optional)'}: ${description}`,
  );
  return `A tenant's own account: \`key\`: ${keyDescription}${fields.join('')}`;
}

function tableOf(Variables: new () => object): string {
  const rows = describeVariables(Variables).map((variable) =>
    [
      namesOf(variable),
      variable.meaning,
      withoutOf(variable),
      variable.rule ?? 'be any text',
      `\`${variable.example}\``,
    ].map((cell) => cell.replaceAll('|', '\\|')),
  );
  const head = ['variable', 'meaning', 'without it', 'must', 'example'];
  const lines = [head, head.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** `GATEWAY_SECRET_FILE` has a row of its own: it holds more than the secret. */
function namesOf({ name, isSecret, isChangeable }: DescribedVariable): string {
  if (isChangeable) return `\`${name}\` ↻`;
  return isSecret && name !== 'GATEWAY_SECRET' ? `\`${name}\`, \`${name}_FILE\`` : `\`${name}\``;
}

function withoutOf({ default: value, without }: DescribedVariable): string {
  return without ?? (value === undefined ? 'nothing' : `\`${value}\``);
}
