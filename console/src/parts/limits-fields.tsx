import type { ReactNode } from 'react';
import { errorAt } from '../api/changes';
import { formatUsd } from '../format/credits';
import { Button, Field, NumberField, SelectField, TextArea } from '../ui';
import { LISTS, PERIODS, RATES, type LimitsDraft } from './limits-draft';

const RATE_LABEL: Record<(typeof RATES)[number], string> = {
  requests_per_minute: 'Requests per minute',
  tokens_per_minute: 'Tokens per minute',
  max_in_flight: 'Concurrent requests',
};
const LIST_LABEL = { models: 'Models', providers: 'Providers' } as const;

/**
 * Form fields for limits.
 *
 * @param path prefix of the API's field names, such as `limits.`
 */
export function LimitsFields({
  draft,
  onChange,
  error,
  path = '',
}: {
  draft: LimitsDraft;
  onChange: (draft: LimitsDraft) => void;
  error: Error | null;
  path?: string;
}): ReactNode {
  const at = (name: string) => errorAt(error, `${path}${name}`);
  const setBudget = (index: number, change: Partial<LimitsDraft['budgets'][number]>) =>
    onChange({
      ...draft,
      budgets: draft.budgets.map((budget, each) =>
        each === index ? { ...budget, ...change } : budget,
      ),
    });
  const free = PERIODS.find((period) => draft.budgets.every((each) => each.period !== period));
  return (
    <div className="form">
      {draft.budgets.map(({ period, credits }, index) => (
        <div className="form-line" key={index}>
          <SelectField
            label="Period"
            value={period}
            options={PERIODS}
            onChange={(chosen) => setBudget(index, { period: chosen })}
          />
          <NumberField
            label={`Credits${/^\d+$/.test(credits) ? ` (${formatUsd(Number(credits))})` : ''}`}
            error={at(`budgets.${index}`)}
            min={0}
            value={credits}
            onChange={(text) => setBudget(index, { credits: text })}
          />
          <Button
            aria-label={`Remove ${period} budget`}
            onClick={() =>
              onChange({ ...draft, budgets: draft.budgets.filter((_, each) => each !== index) })
            }
          >
            Remove
          </Button>
        </div>
      ))}
      {free && (
        <div className="row">
          <Button
            onClick={() =>
              onChange({ ...draft, budgets: [...draft.budgets, { period: free, credits: '' }] })
            }
          >
            Add budget
          </Button>
          <span className="muted">1,000,000 credits are $1.00.</span>
        </div>
      )}
      <div className="form-grid">
        {RATES.map((name) => (
          <NumberField
            key={name}
            label={RATE_LABEL[name]}
            error={at(name)}
            min={1}
            placeholder="No limit"
            value={draft.rates[name]}
            onChange={(text) => onChange({ ...draft, rates: { ...draft.rates, [name]: text } })}
          />
        ))}
      </div>
      {LISTS.map((name) => (
        <div className="form-grid" key={name}>
          {(['allow', 'deny'] as const).map((kind) => (
            <Field
              key={kind}
              label={`${kind === 'allow' ? 'Allowed' : 'Denied'} ${LIST_LABEL[name].toLowerCase()}`}
              hint={
                kind === 'allow'
                  ? 'One per line; * matches any text. Empty: all.'
                  : 'Overrides the allowed list.'
              }
              error={at(`${name}.${kind}`)}
            >
              <TextArea
                rows={2}
                value={draft.lists[name][kind]}
                onChange={({ target }) =>
                  onChange({
                    ...draft,
                    lists: {
                      ...draft.lists,
                      [name]: { ...draft.lists[name], [kind]: target.value },
                    },
                  })
                }
              />
            </Field>
          ))}
        </div>
      ))}
    </div>
  );
}

/** Returns the API names of the fields that show their own errors. */
export function limitParams(path = ''): string[] {
  return [
    'budgets.0',
    'budgets.1',
    'budgets.2',
    'budgets.3',
    'budgets.4',
    ...RATES,
    ...LISTS.flatMap((name) => [`${name}.allow`, `${name}.deny`]),
  ].map((name) => `${path}${name}`);
}
