import { IsOptional } from 'class-validator';
import { UrlVariable, Describe } from '../../platform/config/variable.decorators.js';
import { patternSetting, type Vendor, readPlainKey, type ByokAccountForm } from '../vendor.js';
import { BedrockAdapter } from './bedrock.adapter.js';

class BedrockEnv {
  @Describe('Region whose models are called. Several, with commas between them, are a pool', {
    default: 'us-east-1',
    example: 'eu-central-1',
  })
  @IsOptional()
  AWS_REGION?: string;

  @Describe(
    'Id of an access key; configures the provider `bedrock` together with the secret one. The health probe needs `bedrock:ListFoundationModels`',
    { example: 'AKIAIOSFODNN7EXAMPLE' },
  )
  @IsOptional()
  AWS_ACCESS_KEY_ID?: string;

  @Describe('The secret access key', { example: 'wJalrXUtnFEMI…', isSecret: true })
  @IsOptional()
  AWS_SECRET_ACCESS_KEY?: string;

  @Describe('Session token of temporary keys', {
    example: 'IQoJb3JpZ2luX2VjEXAMPLE',
    isSecret: true,
  })
  @IsOptional()
  AWS_SESSION_TOKEN?: string;

  @Describe('Another address for Bedrock', {
    without: "the region's own",
    example: 'https://vpce-1.bedrock-runtime.eu-central-1.vpce.amazonaws.com',
  })
  @UrlVariable('http', 'https')
  AWS_BEDROCK_ENDPOINT?: string;
}

const ACCESS_KEY_ID = patternSetting(
  true,
  /^[A-Za-z0-9]{16,128}$/,
  'Id of the access key of an IAM user.',
  'must be an access key id of 16 to 128 letters and digits',
);

const REGION = patternSetting(
  true,
  /^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/,
  'Region whose models are called.',
  'must be a region such as eu-central-1',
);

const FORM: ByokAccountForm = {
  settings: { access_key_id: ACCESS_KEY_ID, region: REGION },
  keyDescription: 'The secret access key.',
  readKey: readPlainKey,
  hasOwnAddress: ({ baseUrl }) => baseUrl === '',
  configure: (provider, { key, settings }) => ({
    ...provider,
    apiKey: key,
    settings: { accessKeyId: settings.access_key_id, region: settings.region },
  }),
};

/** Stand-ins for AWS take shorter ids than AWS gives out, so only what a header cannot carry is refused. */
function faultOfHeaderPart(value: string): string | undefined {
  return /^[\x21-\x7e]{1,4096}$/.test(value)
    ? undefined
    : 'must have 1 to 4096 visible ASCII characters, without spaces or line breaks';
}

export const bedrock: Vendor<BedrockEnv> = {
  id: 'bedrock',
  name: 'AWS Bedrock',
  type: 'aws',
  listedAs: ['bedrock_converse', 'bedrock', 'amazon-bedrock', 'aws'],
  kinds: ['chat', 'embedding'],
  telemetryName: 'aws.bedrock',
  Variables: BedrockEnv,
  regionSetting: 'region',
  settingRules: {
    accessKeyId: faultOfHeaderPart,
    region: REGION.faultOf,
    sessionToken: faultOfHeaderPart,
  },
  placelessSettings: ['accessKeyId', 'sessionToken'],
  incomplete: (env) => [
    ...(env.AWS_ACCESS_KEY_ID && !env.AWS_SECRET_ACCESS_KEY
      ? ['AWS_SECRET_ACCESS_KEY must be set when AWS_ACCESS_KEY_ID is']
      : []),
    ...(env.AWS_BEDROCK_ENDPOINT && env.AWS_REGION?.includes(',')
      ? [
          'AWS_BEDROCK_ENDPOINT must not be set when AWS_REGION lists several, which have addresses of their own',
        ]
      : []),
  ],
  // The adapter makes the region's address where there is none.
  baseUrl: (env) => env.AWS_BEDROCK_ENDPOINT ?? '',
  account: ({
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: apiKey,
    AWS_SESSION_TOKEN: sessionToken,
    AWS_REGION: region = 'us-east-1',
  }) =>
    accessKeyId && apiKey ? { apiKey, settings: { accessKeyId, sessionToken, region } } : undefined,
  accountForm: FORM,
  createAdapter: (provider, tools) => new BedrockAdapter(provider, tools),
};
