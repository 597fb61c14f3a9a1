import { describe, expect, it } from '@jest/globals';
import type { AlertMessage } from './alert.js';
import { renderSlack } from './render-alert.js';

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

describe(renderSlack.name, () => {
  it('keeps sections within the 3,000 characters that Slack takes, and mentions nobody', () => {
    const body = renderSlack(MESSAGE);
    const { blocks } = JSON.parse(body) as { blocks: { text?: { text: string } }[] };
    expect(blocks[0]!.text!.text.length).toBeLessThanOrEqual(3_000);
    expect(body).not.toContain('<!channel>');
  });
});
