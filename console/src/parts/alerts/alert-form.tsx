import { useState, type ReactNode } from 'react';
import { formErrors, useChange } from '../../api/changes';
import { Checkbox, FormDialog, SelectField, TextField, toast } from '../../ui';
import { queryKeysOf, type Alert, type AlertSource } from './alert-source';
import { fromTexts, KINDS, kindsOf, toTexts, type AlertKind, type Condition } from './condition';

/** Initial values of a new alert. */
export interface Draft {
  name: string;
  kind: AlertKind;
  condition?: Condition;
}

/** Creates or edits an alert. The API never returns its URL, so an empty URL keeps the stored one. */
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
      toast('Alert saved. The gateway evaluates it every 15 seconds.');
      onClose();
    },
  );
  const { figures } = KINDS[kind];
  const shown = figures.filter(
    ({ isForOperator }) => !isForOperator || source.owner === 'operator',
  );
  const errors = formErrors(save.error, [
    'name',
    'url',
    'format',
    ...figures.map((figure) => `condition.${figure.name}`),
  ]);
  return (
    <FormDialog
      title={stored ? `Edit ${stored.name}` : 'Create alert'}
      action={stored ? 'Save' : 'Create alert'}
      busy={save.isPending}
      error={errors.other}
      onClose={onClose}
      onSubmit={() => save.mutate()}
    >
      <TextField label="Name" error={errors.of('name')} required value={name} onChange={setName} />
      <SelectField
        label="Condition"
        disabled={stored !== undefined}
        value={kind}
        options={kindsOf(source.owner).map((each) => [each, KINDS[each].label] as const)}
        onChange={(next) => {
          setKind(next);
          setTexts(toTexts(next, undefined));
        }}
      />
      {shown.map(({ name: figure, label, type, isRequired }) => {
        const control = {
          label,
          error: errors.of(`condition.${figure}`),
          value: texts[figure] ?? '',
          onChange: (text: string) => setTexts({ ...texts, [figure]: text }),
        };
        return typeof type === 'string' ? (
          <TextField
            key={figure}
            {...control}
            required={isRequired}
            inputMode={type === 'integer' ? 'numeric' : undefined}
          />
        ) : (
          <SelectField key={figure} {...control} options={type} />
        );
      })}
      <TextField
        label="URL"
        hint={stored ? `Leave empty to keep ${stored.url_preview}.` : 'Stored encrypted.'}
        error={errors.of('url')}
        required={!stored}
        type="url"
        value={url}
        onChange={setUrl}
      />
      <SelectField
        label="Format"
        error={errors.of('format')}
        value={format}
        options={[
          ['webhook', 'JSON, signed'],
          ['slack', 'Slack-compatible message'],
        ]}
        onChange={setFormat}
      />
      <Checkbox label="Enabled" checked={isEnabled} onChange={setIsEnabled} />
    </FormDialog>
  );
}
