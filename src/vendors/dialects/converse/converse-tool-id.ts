import { createHash } from 'node:crypto';
import { mapToolId } from '../map-tool-id.js';
import type { ConverseTraits } from './converse-traits.js';

const MAX_LENGTH = 64;
const NINE_CHARACTERS = /^[A-Za-z0-9]{9}$/;

/** A tool call's id as the model takes it; different ones stay different, equal ones equal. */
export function converseToolId(id: string, { toolIds }: Pick<ConverseTraits, 'toolIds'>): string {
  if (toolIds === 'any') return mapToolId(id, MAX_LENGTH);
  if (NINE_CHARACTERS.test(id)) return id;
  return createHash('sha256').update(id).digest('hex').slice(0, 9);
}
