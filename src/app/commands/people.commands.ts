import { COMMAND_AUTHOR } from '../../core/access/author.js';
import { EMAIL_RULE, isInvitableAddress } from '../../core/people/email-address.js';
import type { InvitedRole } from '../../core/people/invitations.service.js';
import { LINK_MINUTES, loginUrlOf } from '../../core/people/login-links.service.js';
import { OPERATOR_ROLES, TENANT_ROLES } from '../../core/access/roles.js';
import { configuredBaseUrl } from '../../platform/http/base-url.js';
import { findTenant, UsageError, type Command, type CommandContext } from './command.js';

export const personInviteCommand: Command = {
  name: 'person invite',
  summary:
    'Invite a person by email address, as an operator or, with --tenant, as a member of that tenant.',
  parameters: ['email', 'role'],
  options: { tenant: 'NAME' },
  async run({ parameters, options }, context) {
    const [email = '', role = ''] = parameters;
    if (!isInvitableAddress(email)) throw new UsageError(`<email> ${EMAIL_RULE}`);
    const to = await invitedRole(context, role, options.tenant);
    const { invitations } = await context.services();
    const { expiresAt } = await invitations.invite(COMMAND_AUTHOR, email, to);
    context.print(`Invited ${email} as ${role} until ${expiresAt.toISOString()}.`);
    context.print('Ask them to log in with this address; the gateway sends no email.');
  },
};

export const loginLinkCommand: Command = {
  name: 'login-link',
  summary: `Print a console link that opens one admin session within ${LINK_MINUTES} minutes.`,
  parameters: [],
  options: {},
  async run(_, context) {
    const { loginLinks } = await context.services();
    const config = context.config();
    const token = await loginLinks.create(COMMAND_AUTHOR);
    if (config.http.hasConsole) {
      context.print(loginUrlOf(configuredBaseUrl(config), token));
      context.note(`Open it once, within ${LINK_MINUTES} minutes.`);
      return;
    }
    context.print(token);
    context.note(`Send it once, within ${LINK_MINUTES} minutes: POST /v1/auth/link {"token": "…"}`);
  },
};

/** @throws UsageError for an unknown role */
async function invitedRole(
  context: CommandContext,
  text: string,
  tenantName: string | undefined,
): Promise<InvitedRole> {
  if (tenantName === undefined) {
    const role = OPERATOR_ROLES.find((each) => each === text);
    if (role) return { tenantId: null, role };
    throw new UsageError(`<role> must be ${OPERATOR_ROLES.join(' or ')} without --tenant`);
  }
  const role = TENANT_ROLES.find((each) => each === text);
  if (!role) throw new UsageError(`<role> must be ${TENANT_ROLES.join(' or ')} with --tenant`);
  const { id } = await findTenant(await context.services(), tenantName);
  return { tenantId: id, role };
}
