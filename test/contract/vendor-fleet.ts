import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { writeOperatorFiles, type OperatorFiles } from '../support/operator-files.js';
import type { ContractVendor, FailureKind, Reply, ScriptedAnswer } from './contract-vendor.js';
import {
  reply,
  startScriptedServer,
  type RecordedCall,
  type ScriptedServer,
} from './scripted-server.js';
import { ALL_VENDORS } from './vendors/all-vendors.js';
import { isResponsesCall, openAiResponsesVendor } from './vendors/openai-responses.vendor.js';
import { openAiVendor } from './vendors/openai.vendor.js';

/** Prices of every route in USD per token, which are credits per million tokens. */
const PRICING = {
  prompt: '0.000001',
  completion: '0.000003',
  input_cache_read: '0.0000005',
  web_search: '0.01',
};

/** Returns the cost of usage at the fleet's prices, in credits. */
export function costOf({ input, output, cacheRead = 0 }: ScriptedAnswer['usage']): number {
  return Math.ceil(input - cacheRead + cacheRead * 0.5 + output * 3);
}

/** An upstream of the whole gateway: one provider with one model. */
export class FleetMember {
  /** Its provider's id. */
  readonly provider: string;
  /** Its model's alias. */
  readonly model: string;

  constructor(
    readonly name: string,
    readonly vendor: ContractVendor,
    readonly server: ScriptedServer,
    /** Its wire format for callers of the Responses dialect, if it has that API. */
    private readonly responses?: ContractVendor,
  ) {
    this.provider = `${name}-test`;
    this.model = `${this.provider}/model`;
  }

  /** True when callers of the Responses dialect are answered in that dialect. */
  get speaksResponses(): boolean {
    return this.responses !== undefined;
  }

  /** Sets the answer to the next calls, whole or streamed as requested. */
  answer(answer: ScriptedAnswer): void {
    this.respond((spelling, call) =>
      spelling.readRequest(call).stream ? spelling.stream(answer) : spelling.whole(answer),
    );
  }

  /** Rejects the next calls. */
  fail(kind: FailureKind): void {
    this.respond((spelling) => spelling.failure(kind));
  }

  /** Starts the next streams and then fails. */
  failMidStream(text: string): void {
    this.respond((spelling) => spelling.streamFailure!(text));
  }

  /** Sends the head and the first event of the next streams, then hangs up. */
  cutStream(): void {
    this.server.script = async (call, response) => {
      const spelling = this.spellingOf(call);
      const usage = { input: 1, output: 1 };
      const { status, headers, pieces } = spelling.stream({ finish: 'stop', usage });
      response.writeHead(status, headers);
      await new Promise<void>((resolve) => response.write(pieces[0], () => resolve()));
      response.destroy();
    };
  }

  /** Sends these bytes to the next calls. */
  send(raw: Reply): void {
    this.respond(() => raw);
  }

  respond(encode: (spelling: ContractVendor, call: RecordedCall) => Reply): void {
    this.server.script = (call, response) => {
      const { status, headers, body } = encode(this.spellingOf(call), call);
      return reply(status, headers, body)(call, response);
    };
  }

  /** Returns the vendor's last request in terms shared by all vendors. */
  lastRequest(): ReturnType<ContractVendor['readRequest']> {
    const call = this.server.calls.at(-1)!;
    return this.spellingOf(call).readRequest(call);
  }

  /** Returns the JSON body of the vendor's last call. */
  lastBody<Body>(): Body {
    return JSON.parse(this.server.calls.at(-1)!.body.toString()) as Body;
  }

  private spellingOf(call: RecordedCall): ContractVendor {
    return this.responses && isResponsesCall(call) ? this.responses : this.vendor;
  }
}

/** The fleet's upstreams; `openai` has the Responses API, `compatible` has not. */
export const FLEET_NAMES: readonly string[] = [
  'openai',
  'compatible',
  ...ALL_VENDORS.filter((vendor) => vendor !== openAiVendor).map(({ name }) => name),
];

/** The whole gateway with one scripted server for every kind of upstream. */
export class VendorFleet {
  private constructor(
    readonly gateway: BootedGateway,
    readonly members: readonly FleetMember[],
    private readonly files: OperatorFiles,
  ) {}

  static async start(environment: Record<string, string> = {}): Promise<VendorFleet> {
    const members = await Promise.all(FLEET_NAMES.map(startMember));
    const providers = members.map(({ provider, vendor, server, speaksResponses }) => {
      const { basePath = '', ...entry } = (speaksResponses ? openAiResponsesVendor : vendor)
        .provider!;
      const base_url = server.origin + basePath;
      return [provider, { ...entry, base_url, api_key_env: 'VENDOR_KEY' }] as const;
    });
    const models = members.map(({ model, provider, vendor }) => ({
      id: model,
      pricing: PRICING,
      routes: [{ provider, model: vendor.upstreamModel, priority: 0 }],
    }));
    const files = await writeOperatorFiles(Object.fromEntries(providers), models);
    const gateway = await bootGateway({
      ...files.environment,
      VENDOR_KEY: 'key-of-the-vendors',
      GATEWAY_BOOTSTRAP_CREDITS: '1000000000',
      // A failure in one case must not pause the route for the next.
      GATEWAY_COOLDOWN_MS: '1',
      ...environment,
    });
    return new VendorFleet(gateway, members, files);
  }

  member(name: string): FleetMember {
    return this.members.find((member) => member.name === name)!;
  }

  forgetCalls(): void {
    for (const { server } of this.members) server.calls.length = 0;
  }

  async close(): Promise<void> {
    await this.gateway.close();
    await Promise.all(this.members.map(({ server }) => server.close()));
    await this.files.remove();
  }
}

async function startMember(name: string): Promise<FleetMember> {
  const server = await startScriptedServer((_call, response) => void response.destroy());
  const vendor = ALL_VENDORS.find((one) => one.name === name) ?? openAiVendor;
  return new FleetMember(
    name,
    vendor,
    server,
    name === 'openai' ? openAiResponsesVendor : undefined,
  );
}
