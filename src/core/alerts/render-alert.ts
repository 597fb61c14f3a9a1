import { oneLine } from '../../platform/text/one-line.js';
import type { AlertDetail, AlertMessage } from './alert.js';

/** Code points of the longest rule name. */
const MAX_RULE_NAME = 255;
/** Code points of a rule's name in a message. */
const MAX_TITLE = 120;

/** The body of a signed webhook, as JSON. */
export function renderWebhook(message: AlertMessage): string {
  const { id, ruleId, ruleName, kind, status, subject, threshold, period, detail } = message;
  return JSON.stringify({
    id,
    type: `alert.${status}`,
    created_at: Math.floor(message.createdAt.getTime() / 1_000),
    data: {
      alert_id: ruleId,
      name: oneLine(ruleName, MAX_RULE_NAME),
      kind,
      status,
      subject,
      threshold,
      period,
      message: describeAlert(message),
      detail,
    },
  });
}

/** In code points. Slack refuses a section of more than 3,000 characters, and the alert would be lost. */
const MAX_SLACK_WORDS = 1_500;

/** What Slack takes, as JSON; `text` says all of it, for receivers that know no blocks. */
export function renderSlack(message: AlertMessage): string {
  const status = message.status[0]!.toUpperCase() + message.status.slice(1);
  const title = escape(`${status}: ${oneLine(message.ruleName, MAX_TITLE)}`);
  const words = oneLine(escape(describeAlert(message)), MAX_SLACK_WORDS);
  return JSON.stringify({
    text: `${title}. ${words}`,
    mrkdwn: false,
    // No links or mentions are made of names and addresses in the text.
    parse: 'none',
    link_names: false,
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      { type: 'section', text: plainText(title) },
      { type: 'section', text: plainText(words) },
      {
        type: 'context',
        elements: [plainText(`${message.kind} · ${message.createdAt.toISOString()}`)],
      },
    ],
  });
}

/** Texts from tenants and vendors must not become markup: no mentions, links or formatting. */
function plainText(text: string): { type: 'plain_text'; text: string; emoji: false } {
  return { type: 'plain_text', text, emoji: false };
}

/** Describes the event in one sentence, on one line. */
export function describeAlert({ kind, status, detail, tenantName }: AlertMessage): string {
  if (status === 'test') return 'This is a test. Nothing happened.';
  const isOver = status === 'resolved';
  const tenant = tenantName === null ? '' : ` of ${oneLine(tenantName)}`;
  const figure = (name: string): string => show(detail, name);
  switch (kind) {
    case 'balance_below':
      return isOver
        ? `The balance${tenant} is ${figure('credits')} credits or more again.`
        : `The balance${tenant} is ${figure('balance')} credits, less than ${figure('credits')}.`;
    case 'budget':
      return (
        `The ${budgetOf(detail)}${tenant} has reached ${figure('percent')} %: ` +
        `${figure('spent')} of ${figure('credits')} credits are spent.`
      );
    case 'vendor_unhealthy':
      return isOver
        ? `${figure('provider')} no longer fails.`
        : `${figure('provider')} fails again and again${modelsOf(detail)}, as ${figure('instances')} of the gateway's processes say.`;
    case 'route_paused':
      return isOver
        ? `${pausedOf(detail)} is no longer paused.`
        : `${pausedOf(detail)} is paused by ${figure('paused_by')}: ${figure('reason')}`;
    case 'error_rate': {
      const at = typeof detail.provider === 'string' ? ` at ${oneLine(detail.provider)}` : '';
      return isOver
        ? `Fewer requests${tenant}${at} fail again than the rule allows.`
        : `${figure('percent')} % of ${figure('requests')} requests${tenant}${at} failed in ${figure('window_minutes')} minutes.`;
    }
    case 'spend_unusual':
      return isOver
        ? `The spend${tenant} is as usual again.`
        : `${figure('spent')} credits were spent in an hour${tenant}; usual at this time are ${figure('usual')}.`;
    case 'prices_stale':
      return isOver
        ? 'All prices of the catalogue have been confirmed of late.'
        : `The prices of ${figure('rows')} models have not been confirmed for 60 days: ${namesOf(detail)}.`;
    case 'prices_differ':
      return isOver
        ? 'The prices of the catalogue are those of the public list again.'
        : `A public list has other prices of ${figure('rows')} models: ${namesOf(detail)}.`;
  }
}

function budgetOf({ scope, scope_id, budget_period }: AlertDetail): string {
  const owner =
    scope === 'tenant'
      ? 'the tenant'
      : `${String(scope).replace('_', ' ')} ${oneLine(String(scope_id))}`;
  return `${String(budget_period)} budget of ${owner}`;
}

function modelsOf({ models }: AlertDetail): string {
  return Array.isArray(models) && models.length > 0 ? ` with ${namesIn(models)}` : '';
}

function namesOf({ models, rows }: AlertDetail): string {
  const names = Array.isArray(models) ? models : [];
  return namesIn(names) + (names.length < Number(rows) ? ' and others' : '');
}

function pausedOf({ provider, model }: AlertDetail): string {
  const at = oneLine(String(provider));
  return typeof model === 'string' ? `${oneLine(model)} at ${at}` : at;
}

function show(detail: AlertDetail, name: string): string {
  const value = detail[name];
  return typeof value === 'number' ? value.toLocaleString('en-US') : oneLine(String(value));
}

function namesIn(names: readonly unknown[]): string {
  return names.map((name) => oneLine(String(name))).join(', ');
}

/** The three characters that Slack gives a meaning. */
function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
