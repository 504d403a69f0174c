// The live page: one EventSource, one Map, one table. What a page of your own needs is in `follow`.
const element = (id) => document.getElementById(id)
const rows = new Map()
let source
let events = 0
let reconnects = 0

/** Follows a collection: `objects` is at every moment what the server has sent, complete once a bookmark has come. */
function follow(url, objects, show) {
  let complete = false
  const stream = new EventSource(url)
  stream.onopen = () => {
    // Cut within its first block, a stream starts that block anew.
    if (!complete) objects.clear()
    show('live')
  }
  stream.onmessage = (message) => {
    const { type, object } = JSON.parse(message.data)
    const key = `${object.metadata.namespace ?? ''}/${object.metadata.name}`
    if (type === 'DELETED') objects.delete(key)
    else objects.set(key, object)
    show('event', { type, key, cursor: message.lastEventId })
  }
  stream.addEventListener('BOOKMARK', (message) => {
    complete = true
    show('bookmark', { cursor: message.lastEventId })
  })
  // The history since the last cursor is gone: what follows is a fresh block.
  stream.addEventListener('RESET', () => {
    complete = false
    objects.clear()
    show('reset')
  })
  stream.onerror = () => show(stream.readyState === EventSource.CLOSED ? 'closed' : 'connecting')
  return stream
}

async function kinds() {
  const get = async (path) => (await fetch(path, { headers: { accept: 'application/json' } })).json()
  const found = []
  for (const group of (await get('/apis')).groups) {
    const { groupVersion } = group.preferredVersion
    for (const resource of (await get(`/apis/${groupVersion}`)).resources) {
      if (resource.verbs.includes('watch'))
        found.push({ path: `/apis/${groupVersion}/${resource.name}`, kind: resource.kind })
    }
  }
  // The kinds of users first, the definitions of kinds last.
  return found.sort((a, b) => Number(a.path.includes('.k8s.io/')) - Number(b.path.includes('.k8s.io/')))
}

function open(path) {
  source?.close()
  rows.clear()
  events = 0
  reconnects = 0
  draw()
  element('caption').textContent = `${path}?watch=1`
  source = follow(`${path}?watch=1`, rows, (what, detail) => {
    if (what === 'live' || what === 'connecting' || what === 'closed') state(what)
    if (what === 'event') events += 1
    if (what === 'connecting') reconnects += 1
    if (detail?.cursor) element('cursor').textContent = detail.cursor
    draw(detail?.key)
  })
}

function state(what) {
  element('state').dataset.state = what
  element('state').textContent = what
}

function draw(changedKey) {
  const body = element('rows')
  const seen = new Set()
  const keys = [...rows.keys()].sort()
  keys.forEach((key, index) => {
    seen.add(key)
    let row = body.querySelector(`tr[data-key="${CSS.escape(key)}"]`)
    if (row === null) {
      row = document.createElement('tr')
      row.dataset.key = key
      for (let cell = 0; cell < 4; cell += 1) row.append(document.createElement('td'))
    }
    if (body.children[index] !== row) body.insertBefore(row, body.children[index] ?? null)
    fill(row, rows.get(key), key === changedKey)
  })
  for (const row of [...body.children]) if (!seen.has(row.dataset.key)) row.remove()
  element('empty').hidden = keys.length > 0
  element('events').textContent = events
  element('reconnects').textContent = reconnects
}

function fill(row, object, changed) {
  const { metadata, apiVersion: _apiVersion, kind: _kind, ...content } = object
  const texts = [
    metadata.namespace ?? '',
    metadata.name,
    metadata.resourceVersion,
    JSON.stringify(content.spec ?? content),
  ]
  texts.forEach((text, index) => {
    row.children[index].textContent = text
  })
  row.classList.remove('changed')
  if (changed) {
    // Reading the layout lets the animation start again.
    void row.offsetWidth
    row.classList.add('changed')
  }
}

async function main() {
  const select = element('kind')
  for (const { path, kind } of await kinds()) select.append(new Option(`${kind} (${path})`, path))
  select.onchange = () => open(select.value)
  if (select.value) open(select.value)
}

main().catch((error) => {
  state('closed')
  element('caption').textContent = String(error)
})
