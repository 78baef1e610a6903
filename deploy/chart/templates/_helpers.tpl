{{/* Names, labels and lists that several templates use. */}}

{{- define "dl-operator.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* Short enough for a suffix of ours within the 63 characters of a label. */}}
{{- define "dl-operator.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 48 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 48 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 48 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* ClusterRoles have no namespace: two releases of one name in two namespaces must not collide. */}}
{{- define "dl-operator.clusterName" -}}
{{- if eq (include "dl-operator.fullname" .) .Release.Namespace -}}
{{- .Release.Namespace -}}
{{- else -}}
{{- printf "%s-%s" .Release.Namespace (include "dl-operator.fullname" .) -}}
{{- end -}}
{{- end -}}

{{/* dict "root" $ "component" NAME: the labels that never change, by which a component's pods are found. */}}
{{- define "dl-operator.selector" -}}
app.kubernetes.io/name: {{ include "dl-operator.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "dl-operator.labels" -}}
{{ include "dl-operator.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "dl-operator.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ default $.Chart.AppVersion .tag }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "dl-operator.account" -}}
{{- $own := ternary (include "dl-operator.fullname" .) "default" .Values.serviceAccount.create -}}
{{- default $own .Values.serviceAccount.name -}}
{{- end -}}

{{/* The namespace whose jobs are served; empty: all. */}}
{{- define "dl-operator.watched" -}}
{{- if .Values.namespaced.enabled -}}
{{- default .Release.Namespace .Values.namespaced.namespace -}}
{{- end -}}
{{- end -}}

{{/* All kinds that are served, as JSON: {GROUP: [PLURAL…]}. The first ones are built in: `dljob crds`. */}}
{{- define "dl-operator.kinds" -}}
{{- $groups := dict
  "mpba.fbk.eu" (list "mxjobs" "tfjobs")
  "fioravanzo.org" (list "mxjobs")
  "mlkube.io" (list "tfjobs")
  "elasticdeeplearning.ai" (list "aitrainingjobs") -}}
{{- range .Values.extraKinds -}}
{{- $_ := set $groups .group (append (default list (get $groups .group)) .plural | uniq) -}}
{{- end -}}
{{- toJson $groups -}}
{{- end -}}

{{/* The names of their definitions, a YAML list. */}}
{{- define "dl-operator.crdNames" -}}
{{- $names := list -}}
{{- range $group, $plurals := include "dl-operator.kinds" . | fromJson -}}
{{- range $plurals -}}
{{- $names = append $names (printf "%s.%s" . $group) -}}
{{- end -}}
{{- end -}}
{{- toYaml $names -}}
{{- end -}}

{{/* dict "root" $ "verbs" LIST "suffix" TEXT: one rule for each group, on the jobs or a subresource of them. */}}
{{- define "dl-operator.jobRules" -}}
{{- $suffix := default "" .suffix -}}
{{- $verbs := .verbs -}}
{{- range $group, $plurals := include "dl-operator.kinds" .root | fromJson }}
- apiGroups: [{{ $group }}]
  resources: [{{ range $i, $p := $plurals }}{{ if $i }}, {{ end }}{{ $p }}{{ $suffix }}{{ end }}]
  verbs: [{{ join ", " $verbs }}]
{{- end -}}
{{- end -}}

{{/* What runs in every pod of the chart. */}}
{{- define "dl-operator.container" -}}
image: {{ include "dl-operator.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{- with .Values.securityContext }}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* dict "root" $ ["account" NAME]: what every pod of the chart has. Without an account it has no token. */}}
{{- define "dl-operator.pod" -}}
{{- with .account }}
serviceAccountName: {{ . }}
{{- end }}
automountServiceAccountToken: {{ not (empty .account) }}
enableServiceLinks: false
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.podSecurityContext }}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
