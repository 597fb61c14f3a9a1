/**
 * What vendors spell keys like. Their messages are passed on to callers, an echoed key is not. The
 * look-ahead keeps field names such as `key_parameters`, and is bounded to stay linear.
 */
const KEY_LIKE = new RegExp(
  [
    String.raw`\b(?:sk|pk|rk|gsk|xai)[-_][\w*.-]{8,}`,
    String.raw`\bkey[-_ ](?=[A-Za-z_.-]{0,40}[\d*])[\w*.-]{8,}`,
    String.raw`\bBearer\s+[\w*.~+/=-]{8,}`,
    String.raw`\bAIza[\w-]{20,}`,
  ].join('|'),
  'gi',
);

/** A vendor's text without whatever in it is spelled like a key. */
export function hideVendorKeys(text: string): string {
  return text.replace(KEY_LIKE, '[redacted]');
}
