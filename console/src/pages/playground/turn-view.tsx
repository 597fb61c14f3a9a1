import type { ReactNode } from 'react';
import { dataUrl, isImage } from '../../calls/build-request';
import type { SentFile, ToolCall, Turn } from '../../calls/conversation';
import { formatBytes } from '../../format/bytes';
import { Badge } from '../../ui';
import { CallFigures } from '../../parts/call-figures';

const ROLES: Record<Turn['role'], string> = {
  user: 'You',
  assistant: 'Answer',
  tool: 'Tool result',
};

/** A turn of a conversation. */
export function TurnView({
  turn,
  names,
}: {
  turn: Turn;
  names: ReadonlyMap<string, string>;
}): ReactNode {
  return (
    <article className="play-turn" data-role={turn.role} aria-label={ROLES[turn.role]}>
      <h3>{ROLES[turn.role]}</h3>
      {turn.role === 'user' && (
        <>
          {turn.text !== '' && <p className="play-text">{turn.text}</p>}
          <FileList files={turn.files} />
        </>
      )}
      {turn.role === 'tool' &&
        turn.results.map(({ id, text }) => (
          <div key={id}>
            <span className="muted">{names.get(id) ?? id}</span>
            <pre className="play-pre" tabIndex={0} aria-label="Result">
              {text}
            </pre>
          </div>
        ))}
      {turn.role === 'assistant' && (
        <>
          <AnswerView {...turn} />
          {turn.call && <CallFigures call={turn.call} finishReason={turn.finishReason} />}
        </>
      )}
    </article>
  );
}

/** A model's text, reasoning and tool calls. */
export function AnswerView({
  text,
  reasoning,
  toolCalls,
}: {
  text: string;
  reasoning: string;
  toolCalls: readonly ToolCall[];
}): ReactNode {
  return (
    <>
      {reasoning !== '' && (
        <details>
          <summary>Reasoning</summary>
          <p className="play-text muted">{reasoning}</p>
        </details>
      )}
      {text !== '' && <p className="play-text">{text}</p>}
      {toolCalls.map((call, index) => (
        <div key={index}>
          <Badge tone="info">tool call: {call.name}</Badge>
          <pre className="play-pre" tabIndex={0} aria-label={`Arguments of ${call.name}`}>
            {indented(call.arguments)}
          </pre>
        </div>
      ))}
    </>
  );
}

/** Attached files, with image previews. */
export function FileList({
  files,
  onRemove,
}: {
  files: readonly SentFile[];
  onRemove?: (index: number) => ReactNode;
}): ReactNode {
  if (files.length === 0) return null;
  return (
    <ul className="play-files">
      {files.map((file, index) => (
        <li key={index}>
          {isImage(file) && file.data !== '' && <img src={dataUrl(file)} alt={file.name} />}
          <span>
            {file.name} <span className="muted">{formatBytes(file.bytes)}</span>
            {file.data === '' && <span className="muted"> · content lost in a reload</span>}
          </span>
          {onRemove?.(index)}
        </li>
      ))}
    </ul>
  );
}

/** Indents JSON; incomplete arguments are returned unchanged. */
function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
