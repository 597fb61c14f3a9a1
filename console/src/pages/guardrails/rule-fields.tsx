import type { ReactNode } from 'react';
import { errorAt } from '../../api/changes';
import { Button, Checkbox, Field, NumberField, SelectField, TextArea, TextField } from '../../ui';
import {
  DATA_LABEL,
  PERSONAL_DATA,
  RULE_TYPES,
  TYPE_LABEL,
  type RuleDraft,
  type RuleType,
} from './rule-draft';

const FLAGS = [
  ['i', 'Ignore case'],
  ['m', '^ and $ match at line breaks'],
  ['s', '. matches line breaks'],
] as const;

interface Props {
  draft: RuleDraft;
  onChange: (change: Partial<RuleDraft>) => void;
  /** Returns the API's error for a field of the rule. */
  errorOf: (field: string) => string | undefined;
}

/**
 * Form fields of a rule.
 *
 * @param onRemove undefined for the last rule, which cannot be removed
 */
export function RuleFields({
  draft,
  index,
  error,
  onChange,
  onRemove,
}: {
  draft: RuleDraft;
  index: number;
  error: Error | null;
  onChange: (change: Partial<RuleDraft>) => void;
  onRemove: (() => void) | undefined;
}): ReactNode {
  const errorOf = (field: string) => errorAt(error, `rules.${index}.${field}`);
  const isElsewhere = !['pattern', 'flags', 'words', 'entities', 'max'].some(errorOf);
  return (
    <fieldset className="rule">
      <legend>Rule {index + 1}</legend>
      <div className="row row-apart">
        <SelectField
          label="Type"
          error={isElsewhere ? errorAt(error, `rules.${index}`) : undefined}
          value={draft.type}
          options={RULE_TYPES.map((each) => [each, TYPE_LABEL[each]] as const)}
          onChange={(type) => onChange({ type })}
        />
        {onRemove && (
          <Button aria-label={`Remove rule ${index + 1}`} onClick={onRemove}>
            Remove
          </Button>
        )}
      </div>
      {FIELDS_OF[draft.type]({ draft, onChange, errorOf })}
    </fieldset>
  );
}

const FIELDS_OF: Record<RuleType, (props: Props) => ReactNode> = {
  keyword: ({ draft, onChange, errorOf }) => (
    <Field
      label="Words or phrases, one per line"
      hint="Matches whole words and ignores case."
      error={errorOf('words')}
    >
      <TextArea
        rows={4}
        value={draft.words}
        onChange={({ target }) => onChange({ words: target.value })}
      />
    </Field>
  ),
  regex: ({ draft, onChange, errorOf }) => (
    <>
      <TextField
        label="Pattern"
        hint="RE2 syntax, without lookaround and backreferences."
        error={errorOf('pattern') ?? errorOf('flags')}
        className="input mono"
        spellCheck={false}
        maxLength={1_000}
        value={draft.pattern}
        onChange={(text) => onChange({ pattern: text })}
      />
      <div className="row">
        {FLAGS.map(([flag, label]) => (
          <Checkbox
            key={flag}
            label={label}
            checked={draft.flags.includes(flag)}
            onChange={(isOn) =>
              onChange({
                flags: isOn ? draft.flags + flag : draft.flags.replace(flag, ''),
              })
            }
          />
        ))}
      </div>
    </>
  ),
  pii: ({ draft, onChange, errorOf }) => (
    <>
      <div className="form-grid">
        {PERSONAL_DATA.map((each) => (
          <Checkbox
            key={each}
            label={DATA_LABEL[each]}
            checked={draft.entities.includes(each)}
            onChange={(isOn) =>
              onChange({
                entities: PERSONAL_DATA.filter((other) =>
                  other === each ? isOn : draft.entities.includes(other),
                ),
              })
            }
          />
        ))}
      </div>
      {errorOf('entities') !== undefined && (
        <span className="field-error" role="alert">
          {errorOf('entities')}
        </span>
      )}
    </>
  ),
  secret: () => (
    <p className="muted">
      Matches API keys, tokens, private keys, and values of fields such as <code>password</code>.
    </p>
  ),
  max_length: ({ draft, onChange, errorOf }) => (
    <NumberField
      label="Maximum characters"
      error={errorOf('max')}
      min={1}
      value={draft.max}
      onChange={(text) => onChange({ max: text })}
    />
  ),
};
