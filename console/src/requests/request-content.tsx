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

/** Shows prompt and answer message by message. */
export function RequestContent({ content }: { content: Content }): ReactNode {
  const { prompt, answer } = content;
  const instructions = prompt.instructions.length > 0;
  return (
    <div className="stack">
      {content.truncated && (
        <Notice tone="info">This content exceeded the size limit and is truncated.</Notice>
      )}
      {instructions && <MessageView role="instructions" parts={prompt.instructions} />}
      {prompt.messages.map((message, index) => (
        <MessageView key={index} {...message} />
      ))}
      {answer.messages.map((message: Message, index) => (
        <MessageView key={index} {...message} role={`answer (${message.role})`} />
      ))}
      {answer.media.map((file) => (
        <p key={file.sha256} className="muted">
          {file.mime_type}, {formatCount(file.bytes)} bytes (files are not stored)
        </p>
      ))}
    </div>
  );
}

function MessageView({ role, parts, finish_reason }: Message): ReactNode {
  return (
    <article className="message">
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
  const details = Object.keys(others).length > 0 ? JSON.stringify(others, null, 2) : '';
  return (
    <>
      {type !== 'text' && <small className="muted">{String(type)}</small>}
      <pre>{isText ? content : details || JSON.stringify(content, null, 2)}</pre>
    </>
  );
}
