{{- define "meshmatch.name" -}}
{{ .Release.Name | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "meshmatch.selector" -}}
app.kubernetes.io/name: meshmatch
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "meshmatch.labels" -}}
{{ include "meshmatch.selector" . }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}
