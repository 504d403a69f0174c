/** Every wait has a name: a promise that does not settle in time rejects with it. */
export async function withTimeout<T>(promise: Promise<T>, ms: number, label: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`waited ${ms} ms in vain for ${label}`)), ms)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Resolves when the condition holds; asks again every few milliseconds. */
export async function until(condition: () => boolean | Promise<boolean>, ms: number, label: string): Promise<void> {
  const end = performance.now() + ms
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`waited ${ms} ms in vain for ${label}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
