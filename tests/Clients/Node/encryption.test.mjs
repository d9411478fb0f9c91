import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { CreateDatabaseOperation, DeleteDatabasesOperation, GetDatabaseRecordOperation, GetStatisticsOperation } from "ravendb";
import { openStore, seed, url, User } from "./support.mjs";

/** The server of these tests has no master key, so it holds keys until it is restarted and keeps none. */
async function giveKey(name, key) {
    return fetch(`${url}/admin/secrets?name=${name}&keep=false`, { method: "POST", body: key });
}

async function newKey() {
    return (await fetch(`${url}/admin/secrets/generate`)).text();
}

test("an encrypted database is created and used like any other", async () => {
    const name = `node-${randomUUID()}`;
    const store = openStore(name);
    try {
        assert.equal((await giveKey(name, await newKey())).status, 201);
        await store.maintenance.server.send(new CreateDatabaseOperation({ databaseName: name, encrypted: true }));
        assert.equal((await store.maintenance.server.send(new GetDatabaseRecordOperation(name))).encrypted, true);

        await seed(store, { "users/1": new User({ name: "Ada", age: 36 }), "users/2": new User({ name: "Grace", age: 85 }) });
        const found = await store.openSession().query(User).whereGreaterThan("age", 40).waitForNonStaleResults().all();
        assert.deepEqual(found.map(user => user.name), ["Grace"]);
        const session = store.openSession();
        await session.delete("users/1");
        await session.saveChanges();
        assert.equal(await store.openSession().load("users/1"), null);
        assert.equal((await store.maintenance.send(new GetStatisticsOperation())).countOfDocuments, 1);
    } finally {
        await store.maintenance.server.send(new DeleteDatabasesOperation({ databaseNames: [name], hardDelete: true })).catch(() => { });
        store.dispose();
    }
});

test("an encrypted database without a key is not created, and the error says how to give one", async () => {
    const name = `node-${randomUUID()}`;
    const store = openStore(name);
    try {
        await assert.rejects(
            store.maintenance.server.send(new CreateDatabaseOperation({ databaseName: name, encrypted: true })),
            error => error.message.includes("its key is not there"));
        assert.ok(!(await store.maintenance.server.send(new GetDatabaseRecordOperation(name))));
    } finally {
        store.dispose();
    }
});

test("what is no key is refused and not quoted", async () => {
    const answer = await giveKey("node-no-key", "tell-nobody");
    assert.equal(answer.status, 400);
    assert.ok(!(await answer.text()).includes("tell-nobody"));
});
