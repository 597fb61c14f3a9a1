/** What the semantic conventions of OpenTelemetry call providers, where it is not their own id. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ['azure', 'azure.ai.openai'],
  ['bedrock', 'aws.bedrock'],
  ['vertex', 'gcp.vertex_ai'],
]);

/** The `gen_ai.provider.name` of a provider. */
export function telemetryProvider(providerId: string): string {
  return NAMES.get(providerId) ?? providerId;
}
