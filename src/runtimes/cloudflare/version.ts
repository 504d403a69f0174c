/** That of package.json, which a bundle does not read; a test holds the two together. */
export const version = '0.1.0'
