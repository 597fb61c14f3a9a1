import type { ReasoningControl } from '../../../canonical/canonical-request.js';

/** Up to these budgets of reasoning tokens an effort is the nearest word; above the last it is `high`. */
const EFFORTS: readonly [maxTokens: number, effort: string][] = [
  [4_096, 'low'],
  [16_384, 'medium'],
];

/**
 * The chat dialect knows reasoning by its effort only. A word is passed on as it is, a budget
 * becomes the nearest one, and reasoning without either is `medium`.
 *
 * @returns undefined where there is nothing to say. A wish for none is not said either, since the
 *   word for it is refused by models that cannot leave it, or that never reason.
 */
export function toReasoningEffort(control: ReasoningControl | undefined): string | undefined {
  if (control?.effort !== undefined) return control.effort;
  if (control === undefined || control.enabled === false) return undefined;
  const { maxTokens, enabled } = control;
  if (maxTokens === undefined) return enabled ? 'medium' : undefined;
  return EFFORTS.find(([limit]) => maxTokens <= limit)?.[1] ?? 'high';
}
