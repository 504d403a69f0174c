// Informers of client-go that follow one kind of a server until standard input says "check": then each must hold what a
// fresh list gives. The inconsistency detector of client-go (KUBE_WATCHLIST_INCONSISTENCY_DETECTOR) panics by itself.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sort"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	toolswatch "k8s.io/client-go/tools/watch"
)

// reader holds the resourceVersion of each object by its key.
type reader struct {
	name string
	held func() map[string]string
	// Where it is not about all objects.
	selector string
}

func main() {
	server := flag.String("server", "", "URL of the server")
	group := flag.String("group", "", "group of the kind; its version is v1")
	plural := flag.String("plural", "", "plural of the kind")
	label := flag.String("label", "", "a selector that some objects match")
	flag.Parse()

	ctx := context.Background()
	config := &rest.Config{Host: *server, QPS: -1, UserAgent: "listwatch-client-go"}
	resource := schema.GroupVersionResource{Group: *group, Version: "v1", Resource: *plural}
	client, err := dynamic.NewForConfig(config)
	exitOn(err)
	metadataClient, err := metadata.NewForConfig(config)
	exitOn(err)

	selected := func(options *metav1.ListOptions) { options.LabelSelector = *label }
	all := dynamicinformer.NewDynamicSharedInformerFactory(client, 0).ForResource(resource).Informer()
	some := dynamicinformer.NewFilteredDynamicInformer(client, resource, "", 0, cache.Indexers{}, selected).Informer()
	onlyMetadata := metadatainformer.NewSharedInformerFactory(metadataClient, 0).ForResource(resource).Informer()
	readers := []reader{
		{name: "dynamic informer", held: inStore(all.GetStore())},
		{name: "dynamic informer with a label selector", held: inStore(some.GetStore()), selector: *label},
		{name: "metadata informer", held: inStore(onlyMetadata.GetStore())},
		{name: "handlers of the dynamic informer", held: toldTo(all)},
		{name: "RetryWatcher", held: retried(ctx, client, resource)},
	}
	for _, informer := range []cache.SharedIndexInformer{all, some, onlyMetadata} {
		go informer.Run(ctx.Done())
		if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
			exitOn(fmt.Errorf("an informer did not synchronise"))
		}
	}
	fmt.Println("synced")

	for lines := bufio.NewScanner(os.Stdin); lines.Scan() && lines.Text() != "check"; {
	}
	failed := false
	for _, reader := range readers {
		difference := untilEqual(ctx, client, resource, reader)
		failed = failed || difference != ""
		line, _ := json.Marshal(map[string]any{"reader": reader.name, "objects": len(reader.held()), "difference": difference})
		fmt.Println(string(line))
	}
	if failed {
		os.Exit(1)
	}
}

// untilEqual waits for a cache to be what a list gives; it says what is different if it does not become so.
func untilEqual(ctx context.Context, client dynamic.Interface, resource schema.GroupVersionResource, reader reader) string {
	difference := ""
	for deadline := time.Now().Add(60 * time.Second); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		list, err := client.Resource(resource).List(ctx, metav1.ListOptions{LabelSelector: reader.selector})
		if err != nil {
			difference = err.Error()
			continue
		}
		wanted := map[string]string{}
		for _, item := range list.Items {
			wanted[keyOf(&item)] = item.GetResourceVersion()
		}
		if difference = differenceOf(wanted, reader.held()); difference == "" {
			return ""
		}
	}
	return difference
}

func differenceOf(wanted, held map[string]string) string {
	var lines []string
	for key, version := range wanted {
		if held[key] != version {
			lines = append(lines, fmt.Sprintf("%s is at %q, held is %q", key, version, held[key]))
		}
	}
	for key := range held {
		if _, there := wanted[key]; !there {
			lines = append(lines, key+" is gone, and held")
		}
	}
	sort.Strings(lines)
	if len(lines) == 0 {
		return ""
	}
	return fmt.Sprintf("%d differ: %s", len(lines), lines[0])
}

func inStore(store cache.Store) func() map[string]string {
	return func() map[string]string {
		held := map[string]string{}
		for _, object := range store.List() {
			held[keyOf(object)] = versionOf(object)
		}
		return held
	}
}

// toldTo keeps what handlers are told, which must come to the same.
func toldTo(informer cache.SharedIndexInformer) func() map[string]string {
	held, lock := map[string]string{}, sync.Mutex{}
	keep := func(object any) {
		lock.Lock()
		defer lock.Unlock()
		held[keyOf(object)] = versionOf(object)
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    keep,
		UpdateFunc: func(_, object any) { keep(object) },
		DeleteFunc: func(object any) {
			lock.Lock()
			defer lock.Unlock()
			if final, unknown := object.(cache.DeletedFinalStateUnknown); unknown {
				delete(held, final.Key)
				return
			}
			delete(held, keyOf(object))
		},
	})
	exitOn(err)
	return copyOf(&lock, held)
}

// retried holds a list and every event of a RetryWatcher from it, through all cuts.
func retried(ctx context.Context, client dynamic.Interface, resource schema.GroupVersionResource) func() map[string]string {
	list, err := client.Resource(resource).List(ctx, metav1.ListOptions{})
	exitOn(err)
	held, lock := map[string]string{}, sync.Mutex{}
	for _, item := range list.Items {
		held[keyOf(&item)] = item.GetResourceVersion()
	}
	watcher, err := toolswatch.NewRetryWatcherWithContext(ctx, list.GetResourceVersion(), &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return client.Resource(resource).Watch(ctx, options)
		},
	})
	exitOn(err)
	go func() {
		for event := range watcher.ResultChan() {
			object, isObject := event.Object.(*unstructured.Unstructured)
			if !isObject {
				exitOn(fmt.Errorf("a RetryWatcher ended with %s: %v", event.Type, event.Object))
			}
			lock.Lock()
			switch event.Type {
			case watch.Added, watch.Modified:
				held[keyOf(object)] = object.GetResourceVersion()
			case watch.Deleted:
				delete(held, keyOf(object))
			}
			lock.Unlock()
		}
	}()
	return copyOf(&lock, held)
}

func copyOf(lock *sync.Mutex, held map[string]string) func() map[string]string {
	return func() map[string]string {
		lock.Lock()
		defer lock.Unlock()
		copied := map[string]string{}
		for key, version := range held {
			copied[key] = version
		}
		return copied
	}
}

func keyOf(object any) string {
	key, err := cache.MetaNamespaceKeyFunc(object)
	exitOn(err)
	return key
}

func versionOf(object any) string {
	accessor, err := meta.Accessor(object.(runtime.Object))
	exitOn(err)
	return accessor.GetResourceVersion()
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
