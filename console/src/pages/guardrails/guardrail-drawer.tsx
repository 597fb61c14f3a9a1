import { useState, type ReactNode } from 'react';
import { useChange } from '../../api/changes';
import { api } from '../../api/client';
import { formatCount } from '../../format/credits';
import { useSession } from '../../session/session';
import {
  ActionButton,
  Badge,
  Button,
  ButtonLink,
  ConfirmDialog,
  Drawer,
  Facts,
  Time,
  toast,
} from '../../ui';
import { ACTIONS, type Guardrail } from './guardrail-form';
import { describeRule } from './rule-draft';
import { ActionBadge } from './triggers';

/** Details of a guardrail, with its actions. */
export function GuardrailDrawer({
  guardrail,
  onEdit,
  onClose,
}: {
  guardrail: Guardrail;
  onEdit: () => void;
  onClose: () => void;
}): ReactNode {
  const { can } = useSession();
  const [isDeleting, setIsDeleting] = useState(false);
  const path = { id: guardrail.id };
  const { is_enabled: isOn } = guardrail;
  const toggle = useChange(
    () =>
      api.PUT('/v1/customer/guardrails/{id}', { params: { path }, body: { is_enabled: !isOn } }),
    ['guardrails'],
    () => toast(isOn ? 'Guardrail disabled.' : 'Guardrail enabled.'),
  );
  const remove = useChange(
    () => api.DELETE('/v1/customer/guardrails/{id}', { params: { path } }),
    ['guardrails'],
    () => {
      toast('Guardrail deleted.');
      onClose();
    },
  );
  return (
    <Drawer title={guardrail.name} onClose={onClose}>
      <div className="stack">
        <div className="row">
          <OnBadge guardrail={guardrail} />
          <ActionBadge action={guardrail.action} />
          <span className="muted">{ACTIONS.find(({ id }) => id === guardrail.action)?.hint}</span>
        </div>
        {guardrail.description !== null && <p>{guardrail.description}</p>}
        {can('develop') && (
          <div className="row">
            <Button variant="primary" onClick={onEdit}>
              Edit
            </Button>
            <ActionButton action={() => toggle.mutateAsync()}>
              {isOn ? 'Disable' : 'Enable'}
            </ActionButton>
            <Button variant="danger" onClick={() => setIsDeleting(true)}>
              Delete
            </Button>
          </div>
        )}
        <section>
          <h3>Rules</h3>
          <ul className="rule-list">
            {guardrail.rules.map((rule, index) => (
              <li key={index}>{describeRule(rule)}</li>
            ))}
          </ul>
        </section>
        <Facts
          facts={[
            ['Applies to', textsOf(guardrail)],
            ['Matches', formatCount(guardrail.trigger_count)],
            ['Last match', <Time at={guardrail.last_triggered_at} none="never" />],
            ['Created', <Time at={guardrail.created_at} />],
            ['Updated', <Time at={guardrail.updated_at} />],
          ]}
        />
        <div className="row row-end">
          <ButtonLink to="/guardrails" search={{ tab: 'found', guardrail: guardrail.id }}>
            Show matches
          </ButtonLink>
        </div>
      </div>
      {isDeleting && (
        <ConfirmDialog
          title={`Delete “${guardrail.name}”?`}
          text={<p>It stops checking requests at once. Its past matches stay in the log.</p>}
          action="Delete guardrail"
          danger
          onClose={() => setIsDeleting(false)}
          onConfirm={() => remove.mutateAsync()}
        />
      )}
    </Drawer>
  );
}

export function OnBadge({ guardrail }: { guardrail: Guardrail }): ReactNode {
  return guardrail.is_enabled ? (
    <Badge tone="good">enabled</Badge>
  ) : (
    <Badge tone="neutral">disabled</Badge>
  );
}

export function textsOf({ applies_to: appliesTo }: Guardrail): string {
  if (appliesTo.length === 2) return 'prompts and answers';
  return appliesTo.includes('input') ? 'prompts' : 'answers';
}
