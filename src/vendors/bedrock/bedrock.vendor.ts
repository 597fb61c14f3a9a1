import { IsOptional } from 'class-validator';
import { UrlVariable, Describe } from '../../platform/config/variable.decorators.js';
import { patternSetting, type Vendor, readPlainKey, type ByokAccountForm } from '../vendor.js';
import { BedrockAdapter } from './bedrock.adapter.js';

class BedrockEnv {
  @Describe('Region to call. Comma-separated regions form a pool', {
    default: 'us-east-1',
    example: 'eu-central-1',
  })
  @IsOptional()
  AWS_REGION?: string;

  @Describe(
    'Access key id; configures the provider `bedrock` together with the secret access key. The health probe needs the permission `bedrock:ListFoundationModels`',
    { example: 'AKIAIOSFODNN7EXAMPLE' },
  )
  @IsOptional()
  AWS_ACCESS_KEY_ID?: string;

  @Describe('The secret access key', { example: 'wJalrXUtnFEMI…', isSecret: true })
  @IsOptional()
  AWS_SECRET_ACCESS_KEY?: string;

  @Describe('Session token of temporary credentials', {
    example: 'IQoJb3JpZ2luX2VjEXAMPLE',
    isSecret: true,
  })
  @IsOptional()
  AWS_SESSION_TOKEN?: string;

  @Describe('Replaces the address of Bedrock', {
    without: "the region's address",
    example: 'https://vpce-1.bedrock-runtime.eu-central-1.vpce.amazonaws.com',
  })
  @UrlVariable('http', 'https')
  AWS_BEDROCK_ENDPOINT?: string;
}

const ACCESS_KEY_ID = patternSetting(
  true,
  /^[A-Za-z0-9]{16,128}$/,
  'Access key id of an IAM user.',
  'must be an access key id of 16 to 128 letters and digits',
);

const REGION = patternSetting(
  true,
  /^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/,
  'Region to call.',
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

/** Rejects only values that are invalid in a header, because AWS-compatible servers use shorter ids. */
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
          'AWS_BEDROCK_ENDPOINT must not be set when AWS_REGION lists several regions, because each has its own address',
        ]
      : []),
  ],
  // The adapter derives the address from the region when there is none.
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
