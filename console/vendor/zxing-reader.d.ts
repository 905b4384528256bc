export * from 'zxing-wasm/dist/es/reader/index.js';
