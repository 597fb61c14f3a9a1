import { useSyncExternalStore, type ReactNode } from 'react';
import type { Tone } from './values';

interface ToastMessage {
  id: number;
  text: string;
  tone: Tone;
}

const SHOWN_MS = 6_000;
let messages: readonly ToastMessage[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

/** Shows a message in the corner for six seconds. Form errors belong next to their form. */
export function toast(text: string, tone: Tone = 'good'): void {
  const id = ++lastId;
  show([...messages, { id, text, tone }]);
  setTimeout(() => show(messages.filter((message) => message.id !== id)), SHOWN_MS);
}

function show(next: readonly ToastMessage[]): void {
  messages = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Renders the toasts; mounted once. */
export function Toasts(): ReactNode {
  const shown = useSyncExternalStore(subscribe, () => messages);
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map(({ id, text, tone }) => (
        <div key={id} className={`toast tone-${tone}`}>
          {text}
        </div>
      ))}
    </div>
  );
}
