import { oneLine } from '../../platform/text/one-line.js';
import type { AlertDetail, AlertMessage } from './alert.js';

/** Code points of the longest rule name. */
const MAX_RULE_NAME = 255;
/** Code points of a rule's name in a message. */
const MAX_TITLE = 120;

/** Renders the body of a signed webhook, as JSON. */
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

/** In code points. Slack rejects sections over 3,000 characters, which would lose the alert. */
const MAX_SLACK_WORDS = 1_500;

/** Renders a Slack message as JSON; `text` repeats everything for receivers without blocks. */
export function renderSlack(message: AlertMessage): string {
  const status = message.status[0]!.toUpperCase() + message.status.slice(1);
  const title = escape(`${status}: ${oneLine(message.ruleName, MAX_TITLE)}`);
  const words = oneLine(escape(describeAlert(message)), MAX_SLACK_WORDS);
  return JSON.stringify({
    text: `${title}. ${words}`,
    mrkdwn: false,
    // Keeps names and addresses in the text from becoming links or mentions.
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
        ? `The balance${tenant} is back at ${figure('credits')} credits or more.`
        : `The balance${tenant} is ${figure('balance')} credits, less than ${figure('credits')}.`;
    case 'budget':
      return (
        `The ${budgetOf(detail)}${tenant} has reached ${figure('percent')} %: ` +
        `${figure('spent')} of ${figure('credits')} credits spent.`
      );
    case 'vendor_unhealthy':
      return isOver
        ? `${figure('provider')} has recovered.`
        : `${figure('provider')} keeps failing${modelsOf(detail)}, according to ${figure('instances')} gateway ${detail.instances === 1 ? 'process' : 'processes'}.`;
    case 'route_paused':
      return isOver
        ? `${pausedOf(detail)} is no longer paused.`
        : `${pausedOf(detail)} is paused by ${figure('paused_by')}: ${figure('reason')}`;
    case 'error_rate': {
      const at = typeof detail.provider === 'string' ? ` at ${oneLine(detail.provider)}` : '';
      return isOver
        ? `The error rate${tenant}${at} is back below the threshold.`
        : `${figure('percent')} % of ${figure('requests')} requests${tenant}${at} failed in ${figure('window_minutes')} minutes.`;
    }
    case 'spend_unusual':
      return isOver
        ? `The spend${tenant} is back to normal.`
        : `${figure('spent')} credits were spent in an hour${tenant}; ${figure('usual')} are usual at this time.`;
    case 'prices_stale':
      return isOver
        ? 'All catalogue prices have been confirmed recently.'
        : `The prices of ${figure('rows')} models have not been confirmed for 60 days: ${namesOf(detail)}.`;
    case 'prices_differ':
      return isOver
        ? 'The catalogue prices match the public list again.'
        : `A public list has different prices for ${figure('rows')} models: ${namesOf(detail)}.`;
  }
}

const PERIOD_NAMES: ReadonlyMap<unknown, string> = new Map([
  ['hour', 'hourly'],
  ['day', 'daily'],
  ['week', 'weekly'],
  ['month', 'monthly'],
]);

function budgetOf({ scope, scope_id, budget_period }: AlertDetail): string {
  const owner =
    scope === 'tenant'
      ? 'the tenant'
      : `${String(scope).replace('_', ' ')} ${oneLine(String(scope_id))}`;
  return `${PERIOD_NAMES.get(budget_period) ?? String(budget_period)} budget of ${owner}`;
}

function modelsOf({ models }: AlertDetail): string {
  return Array.isArray(models) && models.length > 0 ? ` (${namesIn(models)})` : '';
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

/** Escapes the three characters that are special to Slack. */
function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
