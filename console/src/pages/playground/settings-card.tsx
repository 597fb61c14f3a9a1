import { useId, type ReactNode } from 'react';
import { SURFACES, type Surface } from '../../calls/conversation';
import { readTools } from '../../calls/tools';
import { Button, Card, Checkbox, Field, SelectField, TextArea } from '../../ui';
import { EchoInput } from './echo-input';
import type { PlaygroundSettings } from './playground-store';
import { MAX_MODELS, type SettingsChange } from './use-settings';

const SURFACE_NAMES: Record<Surface, string> = {
  chat: 'Chat completions',
  messages: 'Messages',
  responses: 'Responses',
};
const TOOL_EXAMPLE = `[
  {
    "name": "get_weather",
    "description": "The weather in a city",
    "parameters": {
      "type": "object",
      "properties": { "city": { "type": "string" } },
      "required": ["city"]
    }
  }
]`;

/** What is asked, and of whom. */
export function SettingsCard({
  settings,
  modelIds,
  system,
  tools,
  isRunning,
  onSettings,
  onRemove,
  onSystem,
  onTools,
}: {
  settings: PlaygroundSettings;
  modelIds: readonly string[];
  system: string;
  tools: string;
  isRunning: boolean;
  onSettings: (changes: SettingsChange) => void;
  onRemove: (index: number) => void;
  onSystem: (text: string) => void;
  onTools: (text: string) => void;
}): ReactNode {
  const { surface, models } = settings;
  const listId = useId();
  const change = (index: number, model: string) =>
    onSettings({ models: models.with(index, model.replaceAll(',', '')).join() });
  const read = readTools(tools);
  return (
    <Card title="What is asked">
      <div className="play-grid">
        <SelectField
          label="API"
          value={surface}
          options={SURFACES.map((each) => [each, SURFACE_NAMES[each]] as const)}
          onChange={(chosen) => onSettings({ surface: chosen })}
        />
        {models.map((model, index) => (
          <Field key={index} label={models.length === 1 ? 'Model' : `Model ${index + 1}`}>
            <div className="play-model">
              <EchoInput
                list={listId}
                value={model}
                spellCheck={false}
                placeholder="Type to find one"
                onText={(text) => change(index, text)}
              />
              {models.length > 1 && (
                <Button
                  variant="quiet"
                  disabled={isRunning}
                  aria-label={`Take model ${index + 1} away`}
                  onClick={() => onRemove(index)}
                >
                  ✕
                </Button>
              )}
            </div>
          </Field>
        ))}
        {models.length < MAX_MODELS && (
          <Button
            disabled={isRunning}
            onClick={() => onSettings({ models: [...models, models.at(-1) ?? ''].join() })}
          >
            Compare with another
          </Button>
        )}
        <datalist id={listId}>
          {modelIds.map((id) => (
            <option key={id} value={id} />
          ))}
        </datalist>
      </div>
      <Field label="System prompt">
        <TextArea
          className="input play-system"
          value={system}
          onChange={({ target }) => onSystem(target.value)}
        />
      </Field>
      <details>
        <summary>Parameters</summary>
        <Parameters settings={settings} onSettings={onSettings} />
      </details>
      <details>
        <summary>
          Tools{'tools' in read && read.tools.length > 0 ? ` (${read.tools.length})` : ''}
        </summary>
        <div className="form">
          <Field
            label="Definitions"
            hint="A JSON list, in the words of any of the three APIs: they are sent in those of the chosen one."
            error={'fault' in read ? read.fault : undefined}
          >
            <TextArea
              className="input mono play-tools"
              spellCheck={false}
              value={tools}
              placeholder={TOOL_EXAMPLE}
              onChange={({ target }) => onTools(target.value)}
            />
          </Field>
          <div className="row">
            {tools.trim() === '' && (
              <Button onClick={() => onTools(TOOL_EXAMPLE)}>Insert an example</Button>
            )}
            <SelectField
              label="Use"
              value={settings.settings.tool_choice}
              options={[
                ['', 'As the model likes'],
                ['required', 'At least one'],
                ['none', 'None'],
              ]}
              onChange={(chosen) => onSettings({ tool_choice: chosen })}
            />
          </div>
        </div>
      </details>
    </Card>
  );
}

function Parameters({
  settings: { surface, settings },
  onSettings,
}: {
  settings: PlaygroundSettings;
  onSettings: (changes: SettingsChange) => void;
}): ReactNode {
  const isResponses = surface === 'responses';
  return (
    <div className="play-grid">
      <Field label="Temperature">
        <EchoInput
          inputMode="decimal"
          value={settings.temperature}
          onText={(text) => onSettings({ temperature: text })}
        />
      </Field>
      <Field label="Top p">
        <EchoInput
          inputMode="decimal"
          value={settings.top_p}
          onText={(text) => onSettings({ top_p: text })}
        />
      </Field>
      <Field
        label="Tokens at most"
        hint={surface === 'messages' ? 'Needed here: 1024 if empty.' : undefined}
      >
        <EchoInput
          inputMode="decimal"
          value={settings.max_tokens}
          onText={(text) => onSettings({ max_tokens: text })}
        />
      </Field>
      {surface === 'chat' && (
        <Field label="Seed">
          <EchoInput
            inputMode="decimal"
            value={settings.seed}
            onText={(text) => onSettings({ seed: text })}
          />
        </Field>
      )}
      <SelectField
        label="Effort of reasoning"
        value={settings.effort}
        options={[
          ['', 'As the model has it'],
          ['low', 'Low'],
          ['medium', 'Medium'],
          ['high', 'High'],
        ]}
        onChange={(chosen) => onSettings({ effort: chosen })}
      />
      {!isResponses && (
        <Field label="Stop at" hint="One text a line.">
          <TextArea
            className="input play-stop"
            defaultValue={settings.stop}
            onBlur={({ target }) => onSettings({ stop: target.value })}
          />
        </Field>
      )}
      <Checkbox
        label="Stream the answer"
        checked={settings.stream}
        onChange={(isOn) => onSettings({ stream: isOn ? '' : 'false' })}
      />
    </div>
  );
}
