{{/*
The document that the operator reads about accelerators, or nothing. The presets are those of the charts of old: the
host paths of drivers that GKE's and Azure's nodes had.
*/}}
{{- define "dl-operator.accelerators" -}}
{{- if .Values.accelerators.config -}}
{{- if .Values.accelerators.cloud -}}
{{- fail "accelerators.cloud and accelerators.config are two answers to one question: set one of them" -}}
{{- end -}}
{{- toYaml .Values.accelerators.config -}}
{{- else if eq .Values.accelerators.cloud "gke" -}}
accelerators:
  alpha.kubernetes.io/nvidia-gpu:
    volumes:
    - {name: nvidia-libraries, mountPath: /usr/local/nvidia/lib64, hostPath: /home/kubernetes/bin/nvidia/lib}
    - {name: nvidia-debug-tools, mountPath: /usr/local/bin/nvidia, hostPath: /home/kubernetes/bin/nvidia/bin}
{{- else if eq .Values.accelerators.cloud "azure" -}}
accelerators:
  alpha.kubernetes.io/nvidia-gpu:
    volumes:
    - {name: lib, mountPath: /usr/lib/nvidia, hostPath: /usr/lib/nvidia-384}
    - {name: bin, mountPath: /usr/local/nvidia/bin, hostPath: /usr/lib/nvidia-384/bin}
    - name: libcuda
      mountPath: /usr/lib/x86_64-linux-gnu/libcuda.so.1
      hostPath: /usr/lib/x86_64-linux-gnu/libcuda.so.1
    envVars:
    - {name: LD_LIBRARY_PATH, value: "/usr/lib/nvidia:/usr/lib/x86_64-linux-gnu"}
{{- end -}}
{{- end -}}
