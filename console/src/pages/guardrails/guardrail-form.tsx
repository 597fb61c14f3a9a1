import { useState, type ReactNode } from 'react';
import { formErrors, useChange } from '../../api/changes';
import { api } from '../../api/client';
import type { components } from '../../api/schema';
import { Button, Checkbox, FormDialog, SelectField, TextField, toast } from '../../ui';
import { fromRule, NEW_RULE, toRule, type RuleDraft } from './rule-draft';
import { RuleFields } from './rule-fields';
import { TrialForm } from './trial';

export type Guardrail = components['schemas']['Guardrail'];
type Body = components['schemas']['CreateGuardrail'];

export const ACTIONS = [
  { id: 'block', label: 'Block', hint: 'Rejects requests and withholds answers.' },
  {
    id: 'flag',
    label: 'Flag',
    hint: 'Allows the request, marked by a response header and in the log.',
  },
  { id: 'log', label: 'Log', hint: 'Records the match; the caller does not notice.' },
] as const;
const MAX_RULES = 50;

/** Creates or edits a guardrail. */
export function GuardrailForm({
  known,
  onClose,
}: {
  known: Guardrail | undefined;
  onClose: () => void;
}): ReactNode {
  const [name, setName] = useState(known?.name ?? '');
  const [description, setDescription] = useState(known?.description ?? '');
  const [action, setAction] = useState<Guardrail['action']>(known?.action ?? 'block');
  const [appliesTo, setAppliesTo] = useState<Guardrail['applies_to']>(
    known?.applies_to ?? ['input'],
  );
  const [isEnabled, setIsEnabled] = useState(known?.is_enabled ?? true);
  const [rules, setRules] = useState<readonly RuleDraft[]>(
    known?.rules.map(fromRule) ?? [NEW_RULE],
  );
  const save = useChange(
    (body: Body) =>
      known
        ? api.PUT('/v1/customer/guardrails/{id}', { params: { path: { id: known.id } }, body })
        : api.POST('/v1/customer/guardrails', { body }),
    ['guardrails'],
    () => {
      toast(known ? 'Guardrail saved.' : 'Guardrail created.');
      onClose();
    },
  );
  const setRule = (index: number, change: Partial<RuleDraft>) =>
    setRules(rules.map((rule, each) => (each === index ? { ...rule, ...change } : rule)));
  const setDirection = (direction: 'input' | 'output', isOn: boolean) =>
    setAppliesTo(
      (['input', 'output'] as const).filter((each) =>
        each === direction ? isOn : appliesTo.includes(each),
      ),
    );
  const errors = formErrors(save.error, [
    'name',
    'description',
    'action',
    'applies_to',
    ...rules.map((_, index) => `rules.${index}`),
  ]);
  return (
    <FormDialog
      title={known ? `Edit ${known.name}` : 'Create guardrail'}
      action={known ? 'Save' : 'Create guardrail'}
      wide
      busy={save.isPending}
      error={errors.other}
      onClose={onClose}
      onSubmit={() =>
        save.mutate({
          name,
          description: description === '' ? null : description,
          rules: rules.map(toRule),
          action,
          applies_to: appliesTo,
          is_enabled: isEnabled,
        })
      }
    >
      <div className="form-grid">
        <TextField
          label="Name"
          error={errors.of('name')}
          required
          maxLength={255}
          value={name}
          onChange={setName}
        />
        <TextField
          label="Description"
          error={errors.of('description')}
          maxLength={2_000}
          value={description}
          onChange={setDescription}
        />
        <SelectField
          label="Action on match"
          hint={ACTIONS.find(({ id }) => id === action)?.hint}
          error={errors.of('action')}
          value={action}
          options={ACTIONS.map(({ id, label }) => [id, label] as const)}
          onChange={setAction}
        />
      </div>
      <fieldset className="rule">
        <legend>Applies to</legend>
        <div className="row">
          <Checkbox
            label="Prompts"
            checked={appliesTo.includes('input')}
            onChange={(isOn) => setDirection('input', isOn)}
          />
          <Checkbox
            label="Answers"
            checked={appliesTo.includes('output')}
            onChange={(isOn) => setDirection('output', isOn)}
          />
        </div>
        {errors.of('applies_to') !== undefined && (
          <span className="field-error" role="alert">
            {errors.of('applies_to')}
          </span>
        )}
      </fieldset>
      {rules.map((rule, index) => (
        <RuleFields
          key={index}
          draft={rule}
          index={index}
          error={save.error}
          onChange={(change) => setRule(index, change)}
          onRemove={
            rules.length > 1 ? () => setRules(rules.filter((_, each) => each !== index)) : undefined
          }
        />
      ))}
      {rules.length < MAX_RULES && (
        <div className="row">
          <Button onClick={() => setRules([...rules, NEW_RULE])}>Add rule</Button>
          <span className="muted">The guardrail matches if any rule matches.</span>
        </div>
      )}
      <Checkbox label="Enabled" checked={isEnabled} onChange={setIsEnabled} />
      <details>
        <summary>Test these rules</summary>
        <TrialForm rules={rules.map(toRule)} action={action} />
      </details>
    </FormDialog>
  );
}
