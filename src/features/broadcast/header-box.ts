import { Inject, Injectable } from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { gatewaySecret } from '../../platform/config/gateway-secret.js';
import { SecretBox, UnsealError } from '../../platform/crypto/secret-box.js';

/** Encrypts the headers of destinations, which hold the tenants' keys to their collectors. */
@Injectable()
export class HeaderBox {
  private box: SecretBox | undefined;

  constructor(@Inject(APP_CONFIG) private readonly config: AppConfig) {}

  seal(headers: Readonly<Record<string, string>>, destinationId: string): Buffer {
    return this.open().seal(JSON.stringify(headers), destinationId);
  }

  /** Undefined when they were sealed with another `GATEWAY_SECRET`. */
  unseal(sealed: Buffer, destinationId: string): Record<string, string> | undefined {
    try {
      return JSON.parse(this.open().unseal(sealed, destinationId)) as Record<string, string>;
    } catch (error) {
      if (error instanceof UnsealError) return undefined;
      throw error;
    }
  }

  /** On first use, since a secret is made where there is none yet. */
  private open(): SecretBox {
    this.box ??= new SecretBox(gatewaySecret(this.config), 'destination-headers');
    return this.box;
  }
}
