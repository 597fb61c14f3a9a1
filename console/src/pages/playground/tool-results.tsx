import { useState, type ReactNode } from 'react';
import type { ToolCall } from '../../calls/conversation';
import { Button, Field, TextArea } from '../../ui';

/** A form for tool results, since the playground runs no tools. */
export function ToolResults({
  calls,
  onSend,
}: {
  calls: readonly ToolCall[];
  onSend: (results: { id: string; text: string }[]) => void;
}): ReactNode {
  const [texts, setTexts] = useState(() => calls.map(() => ''));
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        onSend(calls.map(({ id }, index) => ({ id, text: texts[index] ?? '' })));
      }}
    >
      {calls.map(({ id, name }, index) => (
        <Field key={id} label={`Result of ${name}`}>
          <TextArea
            className="input mono play-stop"
            required
            value={texts[index]}
            placeholder={'{"temperature": 18}'}
            onChange={({ target }) => setTexts(texts.with(index, target.value))}
          />
        </Field>
      ))}
      <div className="row row-end">
        <Button type="submit" variant="primary">
          {calls.length === 1 ? 'Send result' : 'Send results'}
        </Button>
      </div>
    </form>
  );
}
