import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { getJson, RandomWriter, seeded, snapshot } from '../model/replay.ts'
import { describeWithChromium, launchChromium } from '../support/browser.ts'
import { CuttingProxy } from '../support/cutting-proxy.ts'
import { EventSourcePage } from '../support/event-source-page.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { ServedProcess } from '../support/serve.ts'
import { until } from '../support/with-timeout.ts'

const PLAYLISTS = '/apis/music.example.dev/v1/namespaces/default/playlists'

describeWithChromium('an EventSource in Chromium', () => {
  let browser: Browser
  let database: TestDatabase
  let server: ServedProcess
  let proxy: CuttingProxy
  let page: Page

  beforeAll(async () => {
    database = await createTestDatabase()
    const env = { DATABASE_URL: database.url, LISTWATCH_RECONNECT_MIN_MS: '500', LISTWATCH_RECONNECT_MAX_MS: '900' }
    server = await ServedProcess.start({ args: ['--sample'], env })
    proxy = await CuttingProxy.open(server.url)
    browser = await launchChromium()
    page = await browser.newPage()
  }, 60_000)

  afterAll(async () => {
    await browser?.close()
    await proxy?.close()
    await server?.stop()
    await database?.drop()
  })

  const stored = async () => snapshot((await getJson(`${server.url}${PLAYLISTS}`)).items)

  test('K18: through a restart of the server and forced cuts it ends with exactly the state of the database', async () => {
    await page.goto(`${proxy.url}/livez`)
    const follower = await EventSourcePage.follow(page, `${PLAYLISTS}?watch=1`)
    const random = seeded(7)
    const writer = new RandomWriter({
      collections: [`${server.url}${PLAYLISTS}`],
      type: { apiVersion: 'music.example.dev/v1', kind: 'Playlist' },
      random,
    })
    const writing = writer.run()
    for (let round = 0; round < 3; round += 1) {
      await follower.reopened(round + 1)
      expect(proxy.cut()).toBeGreaterThan(0)
    }
    await follower.reopened(4)
    await server.restart()
    await follower.reopened(5)
    await server.restart('SIGKILL')
    await follower.reopened(6)
    writer.stop()
    await writing
    const expected = await stored()
    await until(async () => (await follower.held()) === expected, 20_000, 'the page to hold the state of the database')
    expect(writer.acknowledged).toBeGreaterThan(100)
    const told = await follower.notes()
    expect(told.filter((note) => note.startsWith('misfit'))).toEqual([])
    expect(told).not.toContain('reset')
  }, 120_000)

  test('the live page shows a row that appears, changes and goes, under a strict policy', async () => {
    const violations: string[] = []
    page.on('console', (message) => message.type() === 'error' && violations.push(message.text()))
    const response = await page.goto(`${server.url}/`)
    expect(response?.headers()['content-security-policy']).toContain("default-src 'none'")
    const row = page.locator('tr[data-key="default/shown"]')
    await page.locator('#state[data-state="live"]').waitFor()
    const write = (method: string, path: string, body?: object) =>
      fetch(`${server.url}${PLAYLISTS}${path}`, {
        method,
        headers: { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' },
        ...(body ? { body: JSON.stringify(body) } : {}),
      })
    await write('POST', '', {
      apiVersion: 'music.example.dev/v1',
      kind: 'Playlist',
      metadata: { name: 'shown' },
      spec: { title: '<b>first</b>' },
    })
    await row.waitFor()
    expect(await row.textContent()).toContain('<b>first</b>')
    await write('PATCH', '/shown', { spec: { title: 'second' } })
    await row.getByText('second').waitFor()
    await write('DELETE', '/shown')
    await row.waitFor({ state: 'detached' })
    expect(violations).toEqual([])
  }, 60_000)
})
