{{- define "k8s-sd.labels" -}}
app.kubernetes.io/name: k8s-sd
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "k8s-sd.selector" -}}
app.kubernetes.io/name: k8s-sd
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "k8s-sd.account" -}}
{{- if .Values.serviceAccount.name -}}
{{ .Values.serviceAccount.name }}
{{- else -}}
{{ .Release.Name }}
{{- end }}
{{- end }}

{{- define "k8s-sd.port" -}}
{{- if .Values.tls.enabled -}}
https
{{- else -}}
http
{{- end }}
{{- end }}

{{- define "k8s-sd.scheme" -}}
{{- if .Values.tls.enabled -}}
HTTPS
{{- else -}}
HTTP
{{- end }}
{{- end }}
