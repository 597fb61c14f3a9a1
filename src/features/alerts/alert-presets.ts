import type { AlertPresetDto } from './alerts.dto.js';

const ERRORS = { name: 'Requests fail', kind: 'error_rate' } as const;

/** Suggestions, not created automatically, since only the owner knows the receiver. */
export const TENANT_PRESETS: AlertPresetDto[] = [
  { name: 'Credits run out', kind: 'balance_below', condition: { credits: 5_000_000 } },
  { name: 'A budget is used up', kind: 'budget', condition: { thresholds: [50, 80, 100] } },
  { ...ERRORS, condition: { percent: 10, window_minutes: 10, min_requests: 20 } },
  {
    name: 'Spend is unusual',
    kind: 'spend_unusual',
    condition: { factor: 3, floor_credits: 1_000_000 },
  },
];

export const OPERATOR_PRESETS: AlertPresetDto[] = [
  { name: 'A vendor fails', kind: 'vendor_unhealthy', condition: {} },
  { ...ERRORS, condition: { percent: 5, window_minutes: 10, min_requests: 100 } },
  {
    name: 'A tenant spends unusually much',
    kind: 'spend_unusual',
    condition: { factor: 5, floor_credits: 10_000_000 },
  },
  { name: 'Prices are old', kind: 'prices_stale', condition: {} },
];
