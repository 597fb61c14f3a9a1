/** A word that no workload contains, so that every prompt is scanned to its end. */
const RULES = [{ type: 'keyword', words: ['nobody-says-this'] }];

/** Adds an input guardrail to the account, as real accounts have. */
export async function addGuardrail(origin, apiKey) {
  const response = await fetch(`${origin}/v1/customer/guardrails`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Bench', action: 'block', rules: RULES }),
  });
  if (response.status !== 201) throw new Error(`No guardrail: ${await response.text()}`);
}
