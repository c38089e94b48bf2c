#!/usr/bin/env bash
# Checks configs/kubernetes without a cluster: check.sh FOLDER HEARSAY
#
# kubectl asks a server what fields there are, even for --dry-run=client. What it knows by itself are the types of `kubectl
# set`: a field that is lost on the way through them does not exist. It sets those of pods and services; of other kinds it
# says at least that it could read them.
set -euo pipefail
folder=$1 hearsay=$2
if ! command -v kubectl >/dev/null; then
    echo "skipped: no kubectl here"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export KUBECONFIG=/dev/null
failures=0
complain() {
    printf '%s\n' "$*"
    failures=$((failures + 1))
}

normal() { kubectl annotate --local --overwrite -f "$1" -o json check=x | sed 's/,$//'; }

# Lines of FILE that are lost when kubectl reads and writes it: lost FILE SET...
lost() {
    local file=$1
    shift
    kubectl set "$1" --local -f "$file" "${@:2}" -o json >"$work/typed.json" 2>"$work/error" || { cat "$work/error"; return; }
    [[ -s $work/typed.json ]] || { echo "kubectl set $1 wrote nothing"; return; }
    { diff <(normal "$file") <(normal "$work/typed.json" | sed "s/hearsay:other/hearsay/") || true; } | sed -n "s/^< *//p"
}
lost_of_pods() { lost "$1" image hearsay=hearsay:other; }  # nothing is written if it is the same
lost_of_services() { lost "$1" selector app.kubernetes.io/name=hearsay; }

kubectl kustomize "$folder" >"$work/all.yaml" || complain "kubectl kustomize refuses $folder"

found=$(lost_of_pods "$folder/statefulset.yaml")
[[ -z $found ]] || complain "statefulset.yaml has what a StatefulSet has not: $found"
found=$(lost_of_services "$folder/services.yaml")
[[ -z $found ]] || complain "services.yaml has what a Service has not: $found"
# That a field which does not exist is noticed at all:
sed 's/readOnlyRootFilesystem/readOnlyRootFileSystem/' "$folder/statefulset.yaml" >"$work/wrong.yaml"
[[ $(lost_of_pods "$work/wrong.yaml") == *readOnlyRootFileSystem* ]] || complain "a wrong field of a pod is not noticed"
sed 's/publishNotReady/publishUnready/' "$folder/services.yaml" >"$work/wrong.yaml"
[[ $(lost_of_services "$work/wrong.yaml") == *publishUnready* ]] || complain "a wrong field of a service is not noticed"

readable() {
    local said
    said=$(kubectl set image --local -f "$folder/$1" hearsay=x 2>&1 || true)
    [[ $said == *"does not have a pod template: $2"* ]] || complain "$1: $said"
}
readable configmap.yaml '*v1.ConfigMap'
readable secret.example.yaml '*v1.Secret'
readable poddisruptionbudget.yaml '*v1.PodDisruptionBudget'
readable networkpolicy.yaml '*v1.NetworkPolicy'

# What has to fit together, and what a pod must not be able to do.
value() { kubectl annotate --local -f "$folder/$1" check=x -o "jsonpath=$2"; }
is() {
    local got
    got=$(value "$1" "$2")
    [[ $got == "$3" ]] || complain "$1: $2 is '$got', not '$3'"
}
pod='{.spec.template.spec'
container="$pod.containers[0]"
is statefulset.yaml '{.spec.serviceName}' hearsay-peers
is statefulset.yaml "$pod.securityContext.runAsNonRoot}" true
is statefulset.yaml "$pod.securityContext.seccompProfile.type}" RuntimeDefault
is statefulset.yaml "$container.securityContext.readOnlyRootFilesystem}" true
is statefulset.yaml "$container.securityContext.allowPrivilegeEscalation}" false
is statefulset.yaml "$container.securityContext.capabilities.drop}" '["ALL"]'
is statefulset.yaml "$container.livenessProbe.httpGet.path}" /healthz
is statefulset.yaml "$container.readinessProbe.httpGet.path}" /readyz
is statefulset.yaml "$container.ports[*].name}:$container.ports[*].containerPort}" 'proxy link admin:3128 3129 9128'
is services.yaml '{.metadata.name}:{.spec.clusterIP}:{.spec.publishNotReadyAddresses}:{.spec.ports[*].port} ' \
    'hearsay:::3128 hearsay-peers:None:true:3128 3129 '

# The configuration is one, and the pod waits for its drain.
value configmap.yaml '{.data.hearsay\.json}' >"$work/hearsay.json"
# Its volume is not here.
mounted=$(value statefulset.yaml "$container.volumeMounts[?(@.name=='cache')].mountPath}")
grep -q "\"path\": \"$mounted\"" "$work/hearsay.json" || complain "configmap.yaml has no cache.disk at ${mounted:-a volume}"
sed -i "s|\"path\": \"$mounted\"|\"path\": \"$work/cache\"|" "$work/hearsay.json"
HEARSAY_CLUSTER_KEY=$(printf 'k%.0s' {1..64}) HEARSAY_ADMIN_TOKEN=$(printf 't%.0s' {1..32}) \
    "$hearsay" check "$work/hearsay.json" >"$work/said" 2>&1 || complain "configmap.yaml: $(cat "$work/said")"
drain=$(sed -n 's/.*"drain": "\([0-9]*\)s".*/\1/p' "$work/hearsay.json")
waits=$(value statefulset.yaml "$pod.terminationGracePeriodSeconds}")
((drain > 0 && waits > drain)) || complain "a pod is killed after $waits s and drains for ${drain:-?} s"
grep -q '"dns": "hearsay-peers"' "$work/hearsay.json" || complain "configmap.yaml does not name the headless service"

# kubectl does not know the kinds of the Prometheus operator: these have to name what the other files have.
pods=monitoring/podmonitor.yaml services=monitoring/servicemonitor.yaml
labels=$(value statefulset.yaml '{.spec.template.metadata.labels}')
is $pods '{.apiVersion}/{.kind}' monitoring.coreos.com/v1/PodMonitor
is $pods '{.spec.selector.matchLabels}' "$labels"
is $pods '{.spec.podMetricsEndpoints[*].port}{.spec.podMetricsEndpoints[*].path}' admin/metrics
is $services '{.apiVersion}/{.kind} ' 'v1/Service monitoring.coreos.com/v1/ServiceMonitor '
is $services '{.spec.selector.app\.kubernetes\.io/name}{.spec.ports[*].targetPort} ' 'hearsayadmin  '
is $services '{.spec.endpoints[*].port}{.spec.endpoints[*].path} ' ' admin/metrics '
is $services '{.metadata.labels.app\.kubernetes\.io/name}{.spec.selector.matchLabels.app\.kubernetes\.io/name} ' \
    'hearsay hearsayhearsay '
is $services '{.metadata.labels.app\.kubernetes\.io/component}{.spec.selector.matchLabels.app\.kubernetes\.io/component} ' \
    'metrics metrics '
job=$(value statefulset.yaml '{.metadata.labels.app\.kubernetes\.io/name}')
[[ $job == hearsay* ]] || complain "the job would be '$job', and alerts.yml wants hearsay..."
for file in $pods $services; do
    grep -q '^  jobLabel: app.kubernetes.io/name  ' "$folder/$file" || complain "$file names no job"
done

((!failures)) || exit 1
echo "configs/kubernetes is in order, as far as $(kubectl version --client 2>/dev/null | head -n 1) can tell"
