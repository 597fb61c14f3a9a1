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

/** API, models and options of the next request. */
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
    <Card title="Request">
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
                placeholder="Search models"
                onText={(text) => change(index, text)}
              />
              {models.length > 1 && (
                <Button
                  variant="quiet"
                  disabled={isRunning}
                  aria-label={`Remove model ${index + 1}`}
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
            Add model
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
            hint="A JSON list in the format of any of the three APIs. It is converted to that of the selected API."
            error={'error' in read ? read.error : undefined}
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
              <Button onClick={() => onTools(TOOL_EXAMPLE)}>Insert example</Button>
            )}
            <SelectField
              label="Tool choice"
              value={settings.settings.tool_choice}
              options={[
                ['', 'Model decides'],
                ['required', 'At least one tool'],
                ['none', 'No tools'],
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
        label="Maximum tokens"
        hint={surface === 'messages' ? 'Required by this API. Default: 1024.' : undefined}
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
        label="Reasoning effort"
        value={settings.effort}
        options={[
          ['', 'Model default'],
          ['low', 'Low'],
          ['medium', 'Medium'],
          ['high', 'High'],
        ]}
        onChange={(chosen) => onSettings({ effort: chosen })}
      />
      {!isResponses && (
        <Field label="Stop sequences" hint="One per line.">
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
