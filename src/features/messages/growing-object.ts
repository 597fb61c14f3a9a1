import { isJsonObject } from '../../platform/http/json-body.js';
import { JsonScanner } from '../../platform/http/json-scanner.js';

/** A JSON object that arrives in fragments. Scans each byte once and parses once. */
export class GrowingObject {
  private text = '';
  private readonly scanner = new JsonScanner();
  private state: 'growing' | 'whole' | 'never' = 'growing';

  /** True when the text is one complete object without trailing data. */
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

/** Returns whether the text is one complete JSON object. */
export function isObjectText(text: string): boolean {
  try {
    return isJsonObject(JSON.parse(text));
  } catch {
    return false;
  }
}
