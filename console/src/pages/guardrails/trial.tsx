import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { errorAt, errorElsewhere } from '../../api/changes';
import { api } from '../../api/client';
import type { components } from '../../api/schema';
import { Badge, Button, Field, Notice, SelectField, TextArea } from '../../ui';
import { markPlaces } from './marks';
import { TYPE_LABEL, type Rule } from './rule-draft';

type Result = components['schemas']['GuardrailTest'];
type Match = Result['matches'][number];

/**
 * Tests guardrails on a text without storing or counting anything.
 *
 * @param rules unsaved rules to test; undefined tests the tenant's enabled guardrails
 */
export function TrialForm({
  rules,
  action,
}: {
  rules?: Rule[];
  action?: 'block' | 'log' | 'flag';
}): ReactNode {
  const [text, setText] = useState('');
  const [direction, setDirection] = useState<'input' | 'output'>('input');
  const trial = useMutation({
    mutationFn: async (tried: string) => ({
      text: tried,
      result: await api.POST('/v1/customer/guardrails/test', {
        body: { text: tried, direction, ...(rules && { rules }), ...(action && { action }) },
      }),
    }),
  });
  return (
    <div className="form">
      <Field
        label="Text"
        hint="Not sent to a model, stored or counted."
        error={errorAt(trial.error, 'text')}
      >
        <TextArea
          rows={5}
          maxLength={20_000}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      </Field>
      <div className="row">
        {rules === undefined && (
          <SelectField
            label="Test as"
            value={direction}
            options={[
              ['input', 'Prompt'],
              ['output', 'Answer'],
            ]}
            onChange={setDirection}
          />
        )}
        <Button
          variant={rules === undefined ? 'primary' : 'default'}
          busy={trial.isPending}
          disabled={text === ''}
          onClick={() => trial.mutate(text)}
        >
          Test
        </Button>
      </div>
      {errorElsewhere(trial.error, ['text']) !== undefined && (
        <Notice tone="bad">{trial.error?.message}</Notice>
      )}
      {trial.data && <TrialResult {...trial.data} />}
    </div>
  );
}

function TrialResult({ text, result }: { text: string; result: Result }): ReactNode {
  const { matches } = result;
  const groups = matches.map(({ places }) => places);
  return (
    <div className="stack" role="status">
      {result.is_blocked && <Notice tone="bad">Blocked: the request would be rejected.</Notice>}
      {!result.is_blocked && result.is_flagged && (
        <Notice tone="warn">Flagged: the request would be allowed and marked.</Notice>
      )}
      {!result.is_blocked && !result.is_flagged && (
        <Notice tone="good">
          {matches.length > 0
            ? 'Allowed: the request would pass and the matches be logged.'
            : 'Allowed: no guardrail matches.'}
        </Notice>
      )}
      {matches.length > 0 && (
        <ol className="trial-matches">
          {matches.map((match, index) => (
            <li key={index}>
              <Badge tone={toneOf(match)}>{match.action}</Badge> {nameOf(match)}
              {!match.is_finished && ' (timed out, result unknown)'}
            </li>
          ))}
        </ol>
      )}
      {groups.some((places) => places.length > 0) && (
        <pre className="trial-text">
          {markPlaces(text, groups).map((part, index) =>
            part.found.length === 0 ? (
              part.text
            ) : (
              <mark key={index}>
                {part.text}
                <sup>{part.found.map((found) => found + 1).join(', ')}</sup>
              </mark>
            ),
          )}
        </pre>
      )}
    </div>
  );
}

function nameOf({ guardrail_name: name, rule_index: index, rule_type: type }: Match): string {
  const rule = `rule ${index + 1}, ${TYPE_LABEL[type].toLowerCase()}`;
  return name === null ? rule : `${name}: ${rule}`;
}

function toneOf({ action }: Match): 'bad' | 'warn' | 'neutral' {
  if (action === 'block') return 'bad';
  return action === 'flag' ? 'warn' : 'neutral';
}
