import type { ReactNode } from 'react';
import type { components } from '../api/schema';
import { formatCount } from '../format/credits';
import { Notice } from '../ui';

type Content = components['schemas']['RequestContent'];
interface Message {
  role: string;
  parts: object[];
  finish_reason?: string;
}

/** What was asked and answered, message by message. */
export function RequestContent({ content }: { content: Content }): ReactNode {
  const { prompt, answer } = content;
  const instructions = prompt.instructions.length > 0;
  return (
    <div className="stack">
      {content.truncated && (
        <Notice tone="info">Some of it was too long to keep and is left out.</Notice>
      )}
      {instructions && <Said role="instructions" parts={prompt.instructions} />}
      {prompt.messages.map((message, index) => (
        <Said key={index} {...message} />
      ))}
      {answer.messages.map((message: Message, index) => (
        <Said key={index} {...message} role={`answer (${message.role})`} />
      ))}
      {answer.media.map((file) => (
        <p key={file.sha256} className="muted">
          {file.mime_type}, {formatCount(file.bytes)} bytes, which are not kept.
        </p>
      ))}
    </div>
  );
}

function Said({ role, parts, finish_reason }: Message): ReactNode {
  return (
    <article className="said">
      <h3>
        {role}
        {finish_reason !== undefined && <span className="muted"> · {finish_reason}</span>}
      </h3>
      {parts.map((part, index) => (
        <Part key={index} part={part} />
      ))}
    </article>
  );
}

function Part({ part }: { part: object }): ReactNode {
  const { type, content, ...others } = { type: '', content: undefined, ...part } as {
    type: unknown;
    content: unknown;
  };
  const isText = typeof content === 'string';
  const rest = Object.keys(others).length > 0 ? JSON.stringify(others, null, 2) : '';
  return (
    <>
      {type !== 'text' && <small className="muted">{String(type)}</small>}
      <pre>{isText ? content : rest || JSON.stringify(content, null, 2)}</pre>
    </>
  );
}
