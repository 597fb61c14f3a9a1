import { useState, type ReactNode } from 'react';
import { errorAt, errorElsewhere, useChange } from '../../api/changes';
import { Checkbox, Field, FormDialog, Notice, Select, TextInput, toast } from '../../ui';
import { queryKeysOf, type Alert, type AlertSource } from './alert-source';
import { fromTexts, KINDS, kindsOf, toTexts, type AlertKind, type Condition } from './condition';

/** What a new alert begins with. */
export interface Draft {
  name: string;
  kind: AlertKind;
  condition?: Condition;
}

/** Makes or changes an alert. Its URL is shown nowhere again, so it stays unless another is given. */
export function AlertForm({
  source,
  alert,
  onClose,
}: {
  source: AlertSource;
  alert: Alert | Draft;
  onClose: () => void;
}): ReactNode {
  const stored = 'id' in alert ? alert : undefined;
  const [name, setName] = useState(alert.name);
  const [kind, setKind] = useState<AlertKind>(alert.kind);
  const [texts, setTexts] = useState(() => toTexts(alert.kind, alert.condition));
  const [url, setUrl] = useState('');
  const [format, setFormat] = useState(stored?.format ?? 'webhook');
  const [isEnabled, setIsEnabled] = useState(stored?.enabled ?? true);
  const save = useChange(
    async () => {
      const body = { name, format, enabled: isEnabled, condition: fromTexts(kind, texts) };
      return stored
        ? source.update(stored.id, { ...body, ...(url !== '' && { url }) })
        : source.create({ ...body, kind, url });
    },
    [queryKeysOf(source).alerts],
    () => {
      toast('The alert is stored. Whether it is the case is looked at every 15 seconds.');
      onClose();
    },
  );
  const { figures } = KINDS[kind];
  const shown = figures.filter(
    ({ isForOperator }) => !isForOperator || source.owner === 'operator',
  );
  const other = errorElsewhere(save.error, [
    'name',
    'url',
    'format',
    ...figures.map((figure) => `condition.${figure.name}`),
  ]);
  return (
    <FormDialog
      title={stored ? `Change ${stored.name}` : 'New alert'}
      busy={save.isPending}
      onClose={onClose}
      onSubmit={() => save.mutate(undefined)}
    >
      <Field label="Name" error={errorAt(save.error, 'name')}>
        <TextInput required value={name} onChange={({ target }) => setName(target.value)} />
      </Field>
      <Field label="When">
        <Select
          disabled={stored !== undefined}
          value={kind}
          onChange={({ target }) => {
            const next = kindsOf(source.owner).find((each) => each === target.value) ?? kind;
            setKind(next);
            setTexts(toTexts(next, undefined));
          }}
        >
          {kindsOf(source.owner).map((each) => (
            <option key={each} value={each}>
              {KINDS[each].label}
            </option>
          ))}
        </Select>
      </Field>
      {shown.map((figure) => (
        <Field
          key={figure.name}
          label={figure.label}
          error={errorAt(save.error, `condition.${figure.name}`)}
        >
          {typeof figure.type === 'string' ? (
            <TextInput
              required={figure.isRequired}
              inputMode={figure.type === 'integer' ? 'numeric' : undefined}
              value={texts[figure.name] ?? ''}
              onChange={({ target }) => setTexts({ ...texts, [figure.name]: target.value })}
            />
          ) : (
            <Select
              value={texts[figure.name] ?? ''}
              onChange={({ target }) => setTexts({ ...texts, [figure.name]: target.value })}
            >
              {figure.type.map(([value, text]) => (
                <option key={value} value={value}>
                  {text}
                </option>
              ))}
            </Select>
          )}
        </Field>
      ))}
      <Field
        label="URL"
        hint={stored ? `Empty: it stays ${stored.url_preview}` : 'It is stored encrypted.'}
        error={errorAt(save.error, 'url')}
      >
        <TextInput
          required={!stored}
          type="url"
          value={url}
          onChange={({ target }) => setUrl(target.value)}
        />
      </Field>
      <Field label="Sent as" error={errorAt(save.error, 'format')}>
        <Select
          value={format}
          onChange={({ target }) => setFormat(target.value === 'slack' ? 'slack' : 'webhook')}
        >
          <option value="webhook">JSON, signed</option>
          <option value="slack">a message for Slack and its like</option>
        </Select>
      </Field>
      <Checkbox
        label="On"
        checked={isEnabled}
        onChange={({ target }) => setIsEnabled(target.checked)}
      />
      {other && <Notice tone="bad">{other}</Notice>}
    </FormDialog>
  );
}
