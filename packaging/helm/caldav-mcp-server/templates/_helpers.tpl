{{- define "labels" -}}
app.kubernetes.io/name: caldav-mcp-server
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
{{- define "name" -}}
{{ .Release.Name | trunc 50 | trimSuffix "-" }}
{{- end }}
