import { NumberField } from '../../platform/http/field.decorators.js';

export class PercentilesDto {
  @NumberField({ example: 310 })
  p50: number;

  @NumberField({ example: 420 })
  p75: number;

  @NumberField({ example: 600 })
  p90: number;

  @NumberField({ example: 1_250 })
  p99: number;
}
