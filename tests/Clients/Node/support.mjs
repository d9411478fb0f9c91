// What every test here shares: a store on a database of its own against the server at TREEPIE_URL, and the little model of the tests.
import { randomUUID } from "node:crypto";
import { CreateDatabaseOperation, DeleteDatabasesOperation, DocumentStore } from "ravendb";

export const url = process.env.TREEPIE_URL;
if (!url)
    throw new Error("TREEPIE_URL must name a running Treepie server, for instance http://127.0.0.1:8080");

export class User {
    constructor(fields = {}) {
        this.name = undefined;
        this.age = undefined;
        Object.assign(this, fields);
    }
}

export class Company {
    constructor(fields = {}) {
        this.name = undefined;
        Object.assign(this, fields);
    }
}

export function openStore(database, configure = () => { }) {
    const store = new DocumentStore(url, database);
    configure(store.conventions);
    store.conventions.registerEntityType(User);
    store.conventions.registerEntityType(Company);
    store.initialize();
    return store;
}

// The client may leave a connection half open behind a bulk insert that was aborted, which keeps Node.js alive when all tests are done.
const patience = 30_000;
let running = 0, idle;

/** Runs a test on a new database, which is deleted afterwards whatever happens. */
export async function withDatabase(test, configure) {
    clearTimeout(idle);
    running++;
    const name = `node-${randomUUID()}`;
    const store = openStore(name, configure);
    try {
        await store.maintenance.server.send(new CreateDatabaseOperation({ databaseName: name }));
        await test(store, name);
    } finally {
        await store.maintenance.server.send(new DeleteDatabasesOperation({ databaseNames: [name], hardDelete: true })).catch(() => { });
        store.dispose();
        if (--running === 0)
            idle = setTimeout(() => process.exit(), patience).unref();
    }
}

/** Stores entities under given ids, in one batch: {"users/1": new User(…)}. */
export async function seed(store, entities) {
    const session = store.openSession();
    for (const [id, entity] of Object.entries(entities))
        await session.store(entity, id);
    await session.saveChanges();
}

export async function collect(stream) {
    const results = [];
    for await (const result of stream)
        results.push(result);
    return results;
}
