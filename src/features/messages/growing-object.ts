import { isJsonObject } from '../../platform/http/json-body.js';
import { JsonScanner } from '../../platform/http/json-scanner.js';

/** A JSON object whose text comes in pieces. Each byte is looked at once, and all of it is parsed once. */
export class GrowingObject {
  private text = '';
  private readonly scanner = new JsonScanner();
  private state: 'growing' | 'whole' | 'never' = 'growing';

  /** Whether what has come is one object with nothing behind it. */
  get isWhole(): boolean {
    return this.state === 'whole';
  }

  push(piece: string): void {
    if (this.state === 'whole' && piece.trim() !== '') this.state = 'never';
    if (this.state !== 'growing') return;
    this.text += piece;
    const { level, depth } = this.scanner.add(Buffer.from(piece));
    const isClosed = level < 0 || (level === 0 && depth > 0);
    if (!isClosed) return;
    this.state = isObjectText(this.text) ? 'whole' : 'never';
    this.text = '';
  }
}

/** Whether the text is one whole JSON object. */
export function isObjectText(text: string): boolean {
  try {
    return isJsonObject(JSON.parse(text));
  } catch {
    return false;
  }
}
