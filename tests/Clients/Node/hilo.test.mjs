import assert from "node:assert/strict";
import { test } from "node:test";
import { GetIdentitiesOperation, NextIdentityForOperation, SeedIdentityForOperation } from "ravendb";
import { openStore, User, withDatabase } from "./support.mjs";

test("ids made by two stores at once are all different and of the known form", () => withDatabase(async (store, name) => {
    const other = openStore(name);
    try {
        const ids = await Promise.all([store, other].flatMap(one => Array.from({ length: 100 }, async (_, i) => {
            const session = one.openSession();
            const user = new User({ name: `User ${i}` });
            await session.store(user);
            await session.saveChanges();
            return session.advanced.getDocumentId(user);
        })));
        assert.equal(new Set(ids).size, 200);
        for (const id of ids)
            assert.match(id, /^users\/[0-9]+-A$/);
    } finally {
        other.dispose();
    }
}));

test("the range a store gives back when it closes is handed out again", () => withDatabase(async (store, name) => {
    const idOfOne = async one => {
        const session = one.openSession();
        const user = new User({ name: "Ada" });
        await session.store(user);
        await session.saveChanges();
        return session.advanced.getDocumentId(user);
    };
    const first = openStore(name);
    assert.equal(await idOfOne(first), "users/1-A");
    const closed = new Promise(resolve => first.once("afterDispose", done => { done(); resolve(); }));
    first.dispose();
    await closed;
    assert.equal(await idOfOne(store), "users/2-A");
}));

test("the state of the ranges is a document that clients can read", () => withDatabase(async store => {
    const session = store.openSession();
    await session.store(new User({ name: "Ada" }));
    await session.saveChanges();
    const state = await store.openSession().load("Raven/Hilo/users");
    assert.equal(state.Max, 32);
}));

test("identities are taken, set and listed", () => withDatabase(async store => {
    const send = operation => store.maintenance.send(operation);
    assert.equal(await send(new NextIdentityForOperation("users|")), 1);
    assert.equal(await send(new NextIdentityForOperation("users|")), 2);
    assert.equal(await send(new SeedIdentityForOperation("users|", 40)), 40);
    assert.equal(await send(new SeedIdentityForOperation("users|", 7)), 40); // only up
    assert.equal(await send(new SeedIdentityForOperation("users|", 7, true)), 7);
    await send(new NextIdentityForOperation("orders|"));
    assert.deepEqual({ ...await send(new GetIdentitiesOperation()) }, { "orders|": 1, "users|": 7 });
}));
