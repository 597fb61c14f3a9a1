import { describe, expect, it } from '@jest/globals';
import type { AlertMessage } from './alert.js';
import { renderSlack, renderWebhook } from './render-alert.js';

const MESSAGE: AlertMessage = {
  id: 'id',
  ruleId: 'rule',
  ruleName: '&'.repeat(255),
  kind: 'vendor_unhealthy',
  status: 'firing',
  subject: 'azure',
  threshold: 'unhealthy',
  period: '',
  createdAt: new Date(0),
  tenantName: null,
  detail: {
    provider: 'azure',
    instances: 1,
    models: Array.from({ length: 20 }, (_, at) => `${at}<!channel>${'&'.repeat(200)}`),
  },
};

describe(renderWebhook.name, () => {
  it('names the rule in one visible line', () => {
    const body = renderWebhook({ ...MESSAGE, ruleName: 'co\nalert.resolved \u202Ex\u009b2J' });
    expect(JSON.parse(body)).toMatchObject({ data: { name: 'co alert.resolved x 2J' } });
  });
});

describe(renderSlack.name, () => {
  it('turns no names into links or mentions, and cuts between characters', () => {
    const ruleName = '@channel http://evil.example *x* <https://evil.example|y>';
    const detail = {
      ...MESSAGE.detail,
      models: Array.from({ length: 20 }, () => '😀'.repeat(200)),
    };
    const body = renderSlack({ ...MESSAGE, ruleName, detail });
    expect(JSON.parse(body)).toMatchObject({ mrkdwn: false, parse: 'none', link_names: false });
    expect(body).not.toMatch(/<https|\\ud[89a-f]/);
    expect(body.isWellFormed()).toBe(true);
  });

  it('keeps sections within Slack’s limit of 3,000 characters, without mentions', () => {
    const body = renderSlack(MESSAGE);
    const { blocks } = JSON.parse(body) as { blocks: { text?: { text: string } }[] };
    expect(blocks[0]!.text!.text.length).toBeLessThanOrEqual(3_000);
    expect(body).not.toContain('<!channel>');
  });
});
