{{- define "model-gateway.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "model-gateway.labels" -}}
{{ include "model-gateway.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "model-gateway.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "model-gateway.secretName" -}}
{{- .Values.secrets.existingSecret | default (include "model-gateway.name" .) -}}
{{- end -}}

{{- define "model-gateway.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "model-gateway.name" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end -}}

{{/* A pod of the gateway or of the worker. Takes a dict: root, role, own (its values), command. */}}
{{- define "model-gateway.pod" -}}
{{- $values := .root.Values -}}
{{- $stop := $values.stop -}}
metadata:
  labels:
    {{- include "model-gateway.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .role }}
  annotations:
    checksum/settings: {{ toJson (list $values.settings $values.secrets $stop) | sha256sum }}
    {{- with .own.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "model-gateway.serviceAccountName" .root }}
  automountServiceAccountToken: false
  # The delay before SIGTERM, the lame duck period, the drain limit, and time for the rest of the stop.
  terminationGracePeriodSeconds: {{ add $stop.preStopSeconds $stop.lameDuckSeconds $stop.drainSeconds 10 }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 1000
    runAsGroup: 1000
    fsGroup: 1000
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile: { type: RuntimeDefault }
  {{- with $values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "model-gateway.selector" .root | nindent 10 }}
          app.kubernetes.io/component: {{ .role }}
  containers:
    - name: {{ .role }}
      image: "{{ $values.image.repository }}:{{ $values.image.tag | default .root.Chart.AppVersion }}"
      imagePullPolicy: {{ $values.image.pullPolicy }}
      {{- with .command }}
      command: {{ toJson . }}
      {{- end }}
      ports:
        - { name: http, containerPort: 3000 }
      envFrom:
        - configMapRef: { name: {{ include "model-gateway.name" .root }} }
      env:
        {{- range $values.secrets.keys }}
        - { name: {{ . }}_FILE, value: /run/secrets/gateway/{{ . }} }
        {{- end }}
      lifecycle:
        preStop:
          exec: { command: ['sleep', {{ $stop.preStopSeconds | quote }}] }
      startupProbe:
        httpGet: { path: /healthz, port: http }
        periodSeconds: 5
        timeoutSeconds: 3
        failureThreshold: {{ div $values.startup.limitSeconds 5 }}
      livenessProbe:
        httpGet: { path: /healthz, port: http }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet: { path: /readyz, port: http }
        periodSeconds: 2
        timeoutSeconds: 5
        failureThreshold: 1
      resources:
        {{- toYaml .own.resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: { drop: [ALL] }
      volumeMounts:
        - { name: secrets, mountPath: /run/secrets/gateway, readOnly: true }
        - { name: data, mountPath: /data }
        - { name: tmp, mountPath: /tmp }
  volumes:
    - name: secrets
      secret:
        secretName: {{ include "model-gateway.secretName" .root }}
        defaultMode: 0440
    - name: data
      {{- if $values.data.existingClaim }}
      persistentVolumeClaim: { claimName: {{ $values.data.existingClaim }} }
      {{- else }}
      emptyDir: { sizeLimit: {{ $values.data.sizeLimit }} }
      {{- end }}
    - name: tmp
      emptyDir: {}
  {{- with .own.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .own.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .own.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}
